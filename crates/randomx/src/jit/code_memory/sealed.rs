//! Code that was executable from the moment it was mapped.

#![expect(unsafe_code, reason = "maps pages and shares them between threads")]

use std::ffi::c_void;
use std::fs::File;
use std::io::{self, Write};
use std::ptr;

use rustix::fs::{SealFlags, fcntl_add_seals};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use super::aliased::memory_file;
use super::processor::renew;

/// A private view of a memory file that can no longer be written, for systems that refuse to make a
/// written page executable (`PR_SET_MDWE`, systemd's `MemoryDenyWriteExecute=`). A fork that made
/// its view writable would write to a copy.
pub(super) struct SealedCode {
    start: *mut c_void,
    bytes: usize,
}

// SAFETY: the pages are never written, and are unmapped when the only owner is dropped.
unsafe impl Send for SealedCode {}
// SAFETY: as above.
unsafe impl Sync for SealedCode {}

impl SealedCode {
    pub(super) fn new(code: &[u8]) -> io::Result<SealedCode> {
        let bytes = code.len();
        let mut file = File::from(memory_file(bytes)?);
        file.write_all(code)?;
        let seals = SealFlags::WRITE | SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
        fcntl_add_seals(&file, seals)?;
        let access = ProtFlags::READ | ProtFlags::EXEC;
        // SAFETY: the system chooses the address, so no other mapping is replaced, and the seals
        // keep the file as it is.
        let start = unsafe { mmap(ptr::null_mut(), bytes, access, MapFlags::PRIVATE, &file, 0)? };
        let sealed = SealedCode { start, bytes };
        // SAFETY: the range was just mapped, can be read, and is never written.
        renew(unsafe { std::slice::from_raw_parts(sealed.entry(), bytes) });
        Ok(sealed)
    }

    pub(super) fn entry(&self) -> *const u8 {
        self.start.cast()
    }
}

impl Drop for SealedCode {
    fn drop(&mut self) {
        // SAFETY: the range was mapped by `new`, and every user of its address borrows `self`.
        // The call cannot fail for such a range.
        let _ = unsafe { munmap(self.start, self.bytes) };
    }
}
