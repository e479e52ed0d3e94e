//! Code in pages that Apple's ARM64 processors let each thread either write or execute.

#![expect(unsafe_code, reason = "maps pages and exchanges their permissions")]

use std::ffi::c_int;
use std::io;
use std::ptr;
use std::slice;

use super::processor::renew;

/// Code in anonymous private pages, mapped with `MAP_JIT`. A thread that writes them cannot execute
/// them or any other such pages meanwhile, and every other thread can only execute them.
pub(super) struct PrivateCode {
    start: *mut u8,
    bytes: usize,
}

// SAFETY: the pages are written only through an owned value or before they are shared.
unsafe impl Send for PrivateCode {}
// SAFETY: as above.
unsafe impl Sync for PrivateCode {}

impl PrivateCode {
    /// Maps `capacity` bytes, at least as many as `code` has.
    pub(super) fn new(code: &[u8], capacity: usize) -> io::Result<PrivateCode> {
        let access = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANON | libc::MAP_JIT;
        let bytes = capacity.max(1);
        // SAFETY: the system chooses the address, so no other mapping is replaced.
        let start = unsafe { libc::mmap(ptr::null_mut(), bytes, access, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        PrivateCode { start: start.cast(), bytes }.replace(code)
    }

    /// Replaces the code.
    pub(super) fn replace(self, code: &[u8]) -> io::Result<PrivateCode> {
        const WRITE: c_int = 0;
        const EXECUTE: c_int = 1;
        let length = code.len().min(self.bytes);
        // SAFETY: this thread executes no code in such pages until it may again. The range is mapped,
        // and nothing else refers to it.
        let written = unsafe {
            libc::pthread_jit_write_protect_np(WRITE);
            ptr::copy_nonoverlapping(code.as_ptr(), self.start, length);
            libc::pthread_jit_write_protect_np(EXECUTE);
            slice::from_raw_parts(self.start, length)
        };
        renew(written);
        Ok(self)
    }

    pub(super) fn entry(&self) -> *const u8 {
        self.start
    }
}

impl Drop for PrivateCode {
    fn drop(&mut self) {
        // SAFETY: the range was mapped by `new`, and every user of its address borrows `self`. The call
        // cannot fail for such a range.
        unsafe { libc::munmap(self.start.cast(), self.bytes) };
    }
}
