//! Buffers of Windows: large pages if the process holds the privilege for them, ordinary ones
//! otherwise.

#![expect(unsafe_code, reason = "calls the system")]

use std::ptr::{self, NonNull};
use std::slice;
use std::sync::OnceLock;

use windows_sys::Win32::Foundation::{CloseHandle, ERROR_SUCCESS, GetLastError, HANDLE, LUID};
use windows_sys::Win32::Security::{
    AdjustTokenPrivileges, LUID_AND_ATTRIBUTES, LookupPrivilegeValueW, SE_LOCK_MEMORY_NAME,
    SE_PRIVILEGE_ENABLED, TOKEN_ADJUST_PRIVILEGES, TOKEN_PRIVILEGES, TOKEN_QUERY,
};
use windows_sys::Win32::System::Memory::{
    GetLargePageMinimum, MEM_COMMIT, MEM_DECOMMIT, MEM_LARGE_PAGES, MEM_RELEASE, MEM_RESERVE,
    PAGE_READWRITE, VIRTUAL_ALLOCATION_TYPE, VirtualAlloc, VirtualFree,
};
use windows_sys::Win32::System::SystemInformation::{GlobalMemoryStatusEx, MEMORYSTATUSEX};
use windows_sys::Win32::System::Threading::{GetCurrentProcess, OpenProcessToken};

use super::{Line, OutOfMemory, Pages};

/// The size of an ordinary page.
const PAGE: usize = 4096;

/// Pages of this process, readable and writable until they are dropped.
pub struct Buffer {
    start: NonNull<u8>,
    bytes: usize,
    pages: Pages,
}

// SAFETY: the buffer owns its pages, which are written only through `&mut self`.
unsafe impl Send for Buffer {}
// SAFETY: as above.
unsafe impl Sync for Buffer {}

impl Buffer {
    pub fn zeroed(bytes: usize) -> Result<Buffer, OutOfMemory> {
        if bytes == 0 {
            let start = NonNull::<Line>::dangling().cast();
            return Ok(Buffer { start, bytes, pages: Pages::Plain });
        }
        match Buffer::large(bytes) {
            Some(buffer) => Ok(buffer),
            None => Buffer::commit(bytes, bytes, 0, Pages::Plain).ok_or(OutOfMemory),
        }
    }

    /// Allocates large pages if the process may and the system has enough of them.
    fn large(bytes: usize) -> Option<Buffer> {
        // SAFETY: the call only returns a number, 0 without large pages.
        let page = unsafe { GetLargePageMinimum() };
        if page == 0 || bytes < page || !may_lock_memory() {
            return None;
        }
        let whole = bytes.checked_next_multiple_of(page)?;
        Buffer::commit(whole, bytes, MEM_LARGE_PAGES, Pages::HugeTlb)
    }

    /// Allocates `room` bytes, and returns a buffer of the first `bytes`. The system zeroes the allocation
    /// and counts it as used, so using it later cannot fail.
    fn commit(
        room: usize,
        bytes: usize,
        kind: VIRTUAL_ALLOCATION_TYPE,
        pages: Pages,
    ) -> Option<Buffer> {
        let kind = MEM_RESERVE | MEM_COMMIT | kind;
        // SAFETY: the system chooses the address, so no other memory changes.
        let start = unsafe { VirtualAlloc(ptr::null(), room, kind, PAGE_READWRITE) };
        Some(Buffer { start: NonNull::new(start.cast())?, bytes, pages })
    }

    pub fn bytes(&self) -> &[u8] {
        // SAFETY: `bytes` bytes from `start` on are committed and zeroed or written, or there are none.
        // A slice has at most `isize::MAX` bytes, more than a process has addresses.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.bytes) }
    }

    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `bytes`, and `&mut self` is the only reference.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.bytes) }
    }

    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.start.as_ptr()
    }

    pub fn pages(&self) -> Pages {
        self.pages
    }

    /// Returns all but the first `bytes` bytes to the system, which large pages do not allow.
    pub fn shrink(&mut self, bytes: usize) -> bool {
        let kept = bytes.next_multiple_of(PAGE);
        if self.pages != Pages::Plain || kept >= self.bytes {
            return false;
        }
        let rest = self.start.as_ptr().wrapping_add(kept).cast();
        // SAFETY: the pages from `rest` on are the last ones of the allocation, and `&mut self` shows that nothing
        // borrows them. `drop` releases their addresses.
        let shrunk = unsafe { VirtualFree(rest, self.bytes - kept, MEM_DECOMMIT) } != 0;
        if shrunk {
            self.bytes = bytes;
        }
        shrunk
    }

    pub fn huge_bytes(&self) -> Option<usize> {
        Some(if self.pages == Pages::HugeTlb { self.bytes } else { 0 })
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if self.bytes > 0 {
            // SAFETY: `commit` allocated the pages, and nothing borrows them. The call cannot fail for
            // such an address.
            unsafe { VirtualFree(self.start.as_ptr().cast(), 0, MEM_RELEASE) };
        }
    }
}

/// Returns the bytes of memory that are not in use, if the system reports them.
pub fn available() -> Option<u64> {
    let length = u32::try_from(size_of::<MEMORYSTATUSEX>()).ok()?;
    let mut status = MEMORYSTATUSEX { dwLength: length, ..Default::default() };
    // SAFETY: the call writes `status`, whose length it reads there.
    let has_answered = unsafe { GlobalMemoryStatusEx(&raw mut status) } != 0;
    // Wine may answer with zeros while another thread asks for the first time.
    let is_known = has_answered && status.ullTotalPhys > 0;
    is_known.then_some(status.ullAvailPhys)
}

/// Returns whether the process may lock memory, as large pages are. An administrator grants this
/// privilege to users ("Lock pages in memory"), and each process must enable it.
fn may_lock_memory() -> bool {
    static KNOWN: OnceLock<bool> = OnceLock::new();
    *KNOWN.get_or_init(|| enable_lock_memory().is_some())
}

fn enable_lock_memory() -> Option<()> {
    let mut token: HANDLE = ptr::null_mut();
    let access = TOKEN_ADJUST_PRIVILEGES | TOKEN_QUERY;
    // SAFETY: the call writes `token`. The handle of the current process needs no closing.
    let is_open = unsafe { OpenProcessToken(GetCurrentProcess(), access, &raw mut token) } != 0;
    is_open.then_some(())?;
    let enabled = enable_in(token);
    // SAFETY: the handle was just opened, and is not used again.
    unsafe { CloseHandle(token) };
    enabled
}

fn enable_in(token: HANDLE) -> Option<()> {
    let mut luid = LUID::default();
    // SAFETY: the name is a constant with a zero at its end, and the call writes `luid`.
    let is_known =
        unsafe { LookupPrivilegeValueW(ptr::null(), SE_LOCK_MEMORY_NAME, &raw mut luid) } != 0;
    is_known.then_some(())?;
    let privilege = LUID_AND_ATTRIBUTES { Luid: luid, Attributes: SE_PRIVILEGE_ENABLED };
    let privileges = TOKEN_PRIVILEGES { PrivilegeCount: 1, Privileges: [privilege] };
    let none = ptr::null_mut();
    // SAFETY: `token` is an open handle, and the call reads one privilege. The second call reads what
    // the first one left for this thread: without the privilege, the first one succeeds too.
    let error = unsafe {
        if AdjustTokenPrivileges(token, 0, &raw const privileges, 0, none, ptr::null_mut()) == 0 {
            return None;
        }
        GetLastError()
    };
    (error == ERROR_SUCCESS).then_some(())
}
