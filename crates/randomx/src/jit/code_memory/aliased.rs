//! Code in pages with two addresses: one to write it, one to run it.

#![expect(unsafe_code, reason = "maps pages twice")]

use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::OwnedFd;

use memmap2::{Advice, Mmap, MmapMut, MmapOptions};
use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::process::{Resource, getrlimit};

use super::address_space::AddressSpace;
use super::processor::InstructionFetch;

/// Two views of one memory file. A forked child has neither (`MADV_DONTFORK`).
pub(super) struct AliasedCode {
    writable: ManuallyDrop<MmapMut>,
    executable: ManuallyDrop<Mmap>,
    /// Where the views are mapped. In a child their addresses are free, and may have been given to
    /// other memory.
    space: AddressSpace,
    fetch: InstructionFetch,
}

impl AliasedCode {
    /// Maps `capacity` bytes, at least as many as `code` has.
    pub(super) fn new(code: &[u8], capacity: usize) -> io::Result<AliasedCode> {
        let space = AddressSpace::current()?;
        let file = memory_file(capacity, MemfdFlags::empty())?;
        let options = MmapOptions::new().len(capacity).to_owned();
        // SAFETY: the file has no name and its only descriptor is closed at the end of this function.
        // Forks inherit no views, or, if another thread forks before the advice below, views that
        // they do not use. So nothing but this value changes or shortens the file.
        let (writable, executable) = unsafe { (options.map_mut(&file)?, options.map_exec(&file)?) };
        writable.advise(Advice::DontFork)?;
        executable.advise(Advice::DontFork)?;
        let mut aliased = AliasedCode {
            writable: ManuallyDrop::new(writable),
            executable: ManuallyDrop::new(executable),
            space,
            fetch: InstructionFetch::new(),
        };
        let executable = aliased.executable.as_ptr();
        let follows = InstructionFetch::follows_aliases(executable, |code| {
            let _ = aliased.write(code);
        });
        if !follows || !aliased.write(code) {
            return Err(io::ErrorKind::Other.into());
        }
        Ok(aliased)
    }

    /// Replaces the code. Returns `false`, and does nothing, in a child process of the one that
    /// mapped the pages.
    #[inline]
    #[must_use]
    pub(super) fn write(&mut self, code: &[u8]) -> bool {
        if !self.space.is_current() {
            return false;
        }
        self.writable[..code.len()].copy_from_slice(code);
        self.fetch.renew_alias(&self.writable[..code.len()], self.executable.as_ptr());
        true
    }

    /// Returns `None` in a child process.
    #[inline]
    pub(super) fn entry(&self) -> Option<*const u8> {
        self.space.is_current().then(|| self.executable.as_ptr())
    }
}

impl Drop for AliasedCode {
    fn drop(&mut self) {
        if self.space.is_current() {
            // SAFETY: both are dropped only here.
            unsafe {
                ManuallyDrop::drop(&mut self.writable);
                ManuallyDrop::drop(&mut self.executable);
            }
        }
    }
}

/// Makes a nameless file in memory, of `size` zeroed bytes.
pub(super) fn memory_file(size: usize, flags: MemfdFlags) -> io::Result<OwnedFd> {
    // A larger file than RLIMIT_FSIZE allows raises SIGXFSZ, which ends the process.
    if getrlimit(Resource::Fsize).current.is_some_and(|limit| limit < size as u64) {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let file = memfd_create("randomx-code", MemfdFlags::CLOEXEC | flags)?;
    ftruncate(&file, size as u64)?;
    Ok(file)
}
