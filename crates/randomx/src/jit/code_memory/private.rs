//! Code in private pages that are either writable or executable.

use std::io;

use memmap2::{Mmap, MmapMut};

use super::processor::renew;

/// Code in anonymous private pages. A fork gets a copy of its own.
pub(super) struct PrivateCode(Mmap);

impl PrivateCode {
    /// Maps `capacity` bytes, at least as many as `code` has.
    pub(super) fn new(code: &[u8], capacity: usize) -> io::Result<PrivateCode> {
        executable(MmapMut::map_anon(capacity)?, code)
    }

    /// Replaces the code, or unmaps the pages if the system refuses to change them.
    pub(super) fn replace(self, code: &[u8]) -> io::Result<PrivateCode> {
        executable(self.0.make_mut()?, code)
    }

    pub(super) fn entry(&self) -> *const u8 {
        self.0.as_ptr()
    }
}

fn executable(mut writable: MmapMut, code: &[u8]) -> io::Result<PrivateCode> {
    writable[..code.len()].copy_from_slice(code);
    let executable = writable.make_exec()?;
    renew(&executable[..code.len()]);
    Ok(PrivateCode(executable))
}
