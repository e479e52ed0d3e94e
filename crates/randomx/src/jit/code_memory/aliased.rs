//! Code in pages with two addresses: one to write it, one to run it.

#![expect(unsafe_code, reason = "maps pages twice")]

use std::cell::RefCell;
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::OwnedFd;
use std::sync::OnceLock;

use memmap2::{Advice, Mmap, MmapMut, MmapOptions};
use rustix::fs::{FallocateFlags, MemfdFlags, SealFlags, fallocate, fcntl_add_seals, memfd_create};
use rustix::io::retry_on_intr;
use rustix::process::{Resource, getrlimit};

use super::address_space::AddressSpace;
use super::processor::{InstructionFetch, repeating};
use crate::once::try_once;

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
    ///
    /// # Errors
    ///
    /// If the system refuses the pages, or the processor is an emulator that would run old code.
    pub(super) fn new(code: &[u8], capacity: usize) -> io::Result<AliasedCode> {
        // Before the fastest way to fetch code is measured, because emulators may lack some of the instructions.
        if !aliases_are_followed()? {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let mut aliased = AliasedCode::map(capacity, InstructionFetch::new())?;
        if !aliased.write(code) {
            return Err(io::ErrorKind::Other.into());
        }
        Ok(aliased)
    }

    fn map(capacity: usize, fetch: InstructionFetch) -> io::Result<AliasedCode> {
        let space = AddressSpace::current()?;
        let file = memory_file(capacity)?;
        let (writable, executable) = views(&file, capacity)?;
        writable.advise(Advice::DontFork)?;
        executable.advise(Advice::DontFork)?;
        Ok(AliasedCode {
            writable: ManuallyDrop::new(writable),
            executable: ManuallyDrop::new(executable),
            space,
            fetch,
        })
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

/// Tests the processor now, unless that was done, so that no thread does it later.
pub(super) fn test_processor() {
    // If the system refuses the pages, the first program tries again.
    let _ = aliases_are_followed();
}

/// Returns whether new code runs after the old was replaced through another address, as on all processors. An emulator
/// that keeps translations of code runs the old code if it does not notice such writes. QEMU's user emulation does not notice
/// them, for ARM64 before 8.2, and neither does Valgrind by default. The first verdict is kept for the process.
///
/// # Errors
///
/// If the system refuses the pages. The next call tries again.
fn aliases_are_followed() -> io::Result<bool> {
    static FOLLOWED: OnceLock<bool> = OnceLock::new();
    let followed = try_once(&FOLLOWED, || {
        let code =
            RefCell::new(AliasedCode::map(repeating(TURNS, 0).len(), InstructionFetch::safest())?);
        let replace = |value| code.borrow_mut().write(&repeating(TURNS, value));
        let call = || {
            let entry = code.borrow().executable.as_ptr();
            // SAFETY: the pages, which are mapped until the end of this closure, hold the function that
            // `repeating` made, of this type. This process mapped them a moment ago, and `write` has
            // succeeded in it.
            let function: extern "C" fn() -> u64 = unsafe { std::mem::transmute(entry) };
            function()
        };
        Ok::<_, io::Error>(runs_new_code(replace, call))
    })?;
    Ok(*followed)
}

/// Turns of the loop in the function of [`aliases_are_followed`]. An emulator that looks for changes where it enters
/// code may miss them behind jumps whose targets it knows.
const TURNS: u16 = 10;

/// Calls of the function between two changes. An emulator may interpret code at first, and keep a translation only of
/// code that runs often.
const CALLS: usize = 1000;

/// Replaces a function that returns a number, and returns whether it then returns the new number each time.
fn runs_new_code(mut replace: impl FnMut(u16) -> bool, mut call: impl FnMut() -> u64) -> bool {
    [1, 2, 1, 3]
        .into_iter()
        .all(|value| replace(value) && (0..CALLS).all(|_| call() == u64::from(value)))
}

/// Maps a file to write code and to run it. From then on, only the first view can change the file.
fn views(file: &OwnedFd, size: usize) -> io::Result<(MmapMut, Mmap)> {
    let options = MmapOptions::new().len(size).to_owned();
    // SAFETY: the file has no name, and the caller closes its descriptor without another use. If another thread forks
    // before that, the child has the descriptor until it runs another program, or views if it forks before they are
    // advised. No code there knows of them. So nothing but the first view changes the file, and nothing shortens it.
    // The seals enforce that for the descriptor.
    let writable = unsafe { options.map_mut(file)? };
    let seals = SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
    // Linux before 5.1 has no seal against writes.
    if fcntl_add_seals(file, seals | SealFlags::FUTURE_WRITE).is_err() {
        let _ = fcntl_add_seals(file, seals);
    }
    // SAFETY: as above.
    let executable = unsafe { options.map_exec(file)? };
    Ok((writable, executable))
}

/// Makes a nameless file in memory, of `size` zeroed bytes.
///
/// Its pages are allocated at once, so that a lack of memory is an error here and no SIGBUS at the first write to a
/// page.
pub(super) fn memory_file(size: usize) -> io::Result<OwnedFd> {
    // A larger file than RLIMIT_FSIZE allows raises SIGXFSZ, which ends the process.
    if getrlimit(Resource::Fsize).current.is_some_and(|limit| limit < size as u64) {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let file = memfd_create("randomx-code", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
    // A signal of the process interrupts it.
    retry_on_intr(|| fallocate(&file, FallocateFlags::empty(), 0, size as u64))?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use rustix::fs::{fcntl_get_seals, fstat, ftruncate};
    use rustix::io::{Errno, write};

    use super::*;

    /// Returns the verdict on an emulator that keeps a translation after `interpreted` runs of the same code, and
    /// forgets it if `forgets`.
    fn verdict(interpreted: usize, forgets: bool) -> bool {
        let (written, kept, runs) = (Cell::new(0), Cell::new(None), Cell::new(0));
        let replace = |value| {
            written.set(value);
            if forgets {
                kept.set(None);
            }
            true
        };
        let call = || {
            runs.set(runs.get() + 1);
            if runs.get() > interpreted && kept.get().is_none() {
                kept.set(Some(written.get()));
            }
            u64::from(kept.get().unwrap_or(written.get()))
        };
        runs_new_code(replace, call)
    }

    #[test]
    fn an_emulator_that_keeps_old_code_is_found() {
        for interpreted in [0, 1, 2, 50, CALLS - 1] {
            assert!(!verdict(interpreted, false), "after {interpreted} runs");
            assert!(verdict(interpreted, true), "after {interpreted} runs");
        }
    }

    /// A child that another thread forks may inherit the descriptor.
    #[test]
    fn only_the_first_view_can_change_a_file_of_code() {
        let file = memory_file(4096).expect("a file");
        let (mut writable, executable) = views(&file, 4096).expect("two views");
        writable[0] = 1;
        assert_eq!(executable[0], 1);
        if fcntl_get_seals(&file).is_ok_and(|seals| !seals.contains(SealFlags::FUTURE_WRITE)) {
            randomx_testing::say("skipped: this kernel has no F_SEAL_FUTURE_WRITE");
            return;
        }
        assert_eq!(write(&file, &[2]), Err(Errno::PERM));
        assert_eq!([0, 8192].map(|size| ftruncate(&file, size)), [Err(Errno::PERM); 2]);
        // SAFETY: nothing shortens the file, and the view is dropped at once.
        assert!(unsafe { MmapOptions::new().len(4096).map_mut(&file) }.is_err());
        writable[0] = 3;
        assert_eq!(executable[0], 3);
        assert!(executable.make_mut().is_err(), "the second view became writable");
    }

    /// Strict accounting refuses pages for the whole system, which a test cannot ask for.
    #[test]
    fn a_file_has_its_pages_before_they_are_written() {
        for size in [16, 4096, 45_056] {
            let file = memory_file(size).expect("a file");
            let found = fstat(&file).expect("its properties");
            assert_eq!(usize::try_from(found.st_size), Ok(size));
            // In units of 512 bytes.
            assert!(found.st_blocks as usize * 512 >= size, "{} of {size}", found.st_blocks);
        }
    }

    #[test]
    fn code_that_could_not_be_written_is_not_trusted() {
        assert!(!runs_new_code(|_| false, || 1));
    }
}
