//! Code in pages of Windows that are either writable or executable.

#![expect(unsafe_code, reason = "allocates pages and changes their permissions")]

use std::io;
use std::ptr;

use windows_sys::Win32::System::Diagnostics::Debug::FlushInstructionCache;
use windows_sys::Win32::System::Memory::{
    MEM_COMMIT, MEM_RELEASE, MEM_RESERVE, PAGE_EXECUTE_READ, PAGE_PROTECTION_FLAGS, PAGE_READWRITE,
    VirtualAlloc, VirtualFree, VirtualProtect,
};
use windows_sys::Win32::System::Threading::GetCurrentProcess;

/// Code in pages of this process only. A mapping of the crate `memmap2` would be writable and
/// executable at its creation.
pub(super) struct PrivateCode {
    start: *mut u8,
    bytes: usize,
}

// SAFETY: the pages are written only through an owned value.
unsafe impl Send for PrivateCode {}
// SAFETY: as above.
unsafe impl Sync for PrivateCode {}

impl PrivateCode {
    /// Allocates `capacity` bytes, at least as many as `code` has.
    pub(super) fn new(code: &[u8], capacity: usize) -> io::Result<PrivateCode> {
        let bytes = capacity.max(1);
        let kind = MEM_RESERVE | MEM_COMMIT;
        // SAFETY: the system chooses the address, so no other memory changes.
        let start = unsafe { VirtualAlloc(ptr::null(), bytes, kind, PAGE_READWRITE) };
        if start.is_null() {
            return Err(io::Error::last_os_error());
        }
        PrivateCode { start: start.cast(), bytes }.write(code)
    }

    /// Replaces the code, or releases the pages if the system refuses to change them.
    pub(super) fn replace(self, code: &[u8]) -> io::Result<PrivateCode> {
        self.protect(PAGE_READWRITE)?;
        self.write(code)
    }

    pub(super) fn entry(&self) -> *const u8 {
        self.start
    }

    /// Writes code to pages that are writable, and makes them executable.
    fn write(self, code: &[u8]) -> io::Result<PrivateCode> {
        let length = code.len().min(self.bytes);
        // SAFETY: the pages are this value's own, writable, and no code runs there, because the value
        // is owned.
        unsafe { ptr::copy_nonoverlapping(code.as_ptr(), self.start, length) };
        self.protect(PAGE_EXECUTE_READ)?;
        // SAFETY: the range is allocated. The call changes no memory.
        let is_flushed =
            unsafe { FlushInstructionCache(GetCurrentProcess(), self.start.cast(), length) } != 0;
        if is_flushed { Ok(self) } else { Err(io::Error::last_os_error()) }
    }

    fn protect(&self, access: PAGE_PROTECTION_FLAGS) -> io::Result<()> {
        let mut before = 0;
        // SAFETY: the pages are this value's own, nothing borrows them, and no code runs there. The
        // call writes `before`.
        let is_changed =
            unsafe { VirtualProtect(self.start.cast(), self.bytes, access, &raw mut before) } != 0;
        if is_changed { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
}

impl Drop for PrivateCode {
    fn drop(&mut self) {
        // SAFETY: `new` allocated the pages, and every user of the address borrows `self`. The call
        // cannot fail for such an address.
        unsafe { VirtualFree(self.start.cast(), 0, MEM_RELEASE) };
    }
}
