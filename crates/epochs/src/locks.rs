//! The lock of a folder, and those of files that are written in it.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;
use std::process;

use tempfile::NamedTempFile;

use crate::error::Error;

/// The name of the file that is locked.
pub(crate) const LOCK: &str = "lock";

/// The most files that are created until one is locked. Another process that removes files looks at each of them once.
const LOCK_ATTEMPTS: usize = 10;

/// The lock of a folder, until it is dropped or the process ends.
pub(crate) struct Lock {
    file: File,
    /// The process that locked the folder.
    process: u32,
}

impl Lock {
    /// Creates a folder and locks it.
    pub(crate) fn new(path: &Path) -> Result<Lock, Error> {
        let fail = |problem| Error::Write { path: path.to_owned(), problem };
        fs::create_dir_all(path).map_err(fail)?;
        let file = path.join(LOCK);
        // Opening a pipe blocks until a reader appears.
        if fs::symlink_metadata(&file).is_ok_and(|metadata| !metadata.is_file()) {
            let problem = "expected a file, got a folder, a link, a pipe or a device";
            let problem = io::Error::new(io::ErrorKind::InvalidInput, problem);
            return Err(Error::Write { path: file, problem });
        }
        let mut options = OpenOptions::new();
        let file = options.create(true).truncate(false).write(true).open(file);
        let file = file.map_err(fail)?;
        match file.try_lock() {
            Ok(()) => Ok(Lock { file, process: process::id() }),
            Err(TryLockError::WouldBlock) => Err(Error::InUse { folder: path.to_owned() }),
            Err(TryLockError::Error(problem)) => Err(fail(problem)),
        }
    }
}

impl Drop for Lock {
    /// Unlocks the folder. Closing the file would leave the folder locked while a forked process has the file open. A
    /// forked process itself must not unlock the folder.
    fn drop(&mut self) {
        if process::id() == self.process {
            let _ = self.file.unlock();
        }
    }
}

/// Creates a file and locks it, which says that this process still writes it. Another process may lock and remove it
/// in between, as one that no process writes. Then another file is created.
pub(crate) fn create_locked(
    create: impl Fn() -> io::Result<NamedTempFile>,
) -> io::Result<NamedTempFile> {
    for _ in 0..LOCK_ATTEMPTS {
        let new = create()?;
        let is_kept = match new.as_file().try_lock() {
            Ok(()) => new.path().exists(),
            Err(TryLockError::WouldBlock) => false,
            // Not all file systems have locks.
            Err(TryLockError::Error(_)) => true,
        };
        if is_kept {
            return Ok(new);
        }
    }
    create()
}

/// Removes a file that no process has locked.
pub(crate) fn remove_unlocked(path: &Path) -> io::Result<()> {
    let file = OpenOptions::new().write(true).open(path)?;
    file.try_lock()?;
    fs::remove_file(path)
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[test]
    fn a_folder_is_unlocked_although_a_forked_process_has_its_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let lock = || Lock::new(folder.path());
        let first = lock().expect("a lock");
        let forked = |process| Lock { file: first.file.try_clone().expect("a file"), process };
        let other = forked(process::id().wrapping_add(1));
        // A forked process ends, and another one goes on.
        drop(forked(other.process));
        assert!(matches!(lock(), Err(Error::InUse { .. })));
        drop(first);
        drop(lock().expect("a lock"));
        drop(other);
    }

    #[test]
    fn a_file_that_another_process_removes_before_it_is_locked_is_created_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let (created, held) = (RefCell::new(0), RefCell::new(None));
        let create = || {
            let new = NamedTempFile::new_in(folder.path())?;
            match created.replace_with(|created| *created + 1) {
                0 => remove_unlocked(new.path())?,
                1 => {
                    // The other process is about to remove it.
                    let other = OpenOptions::new().write(true).open(new.path())?;
                    other.try_lock()?;
                    held.replace(Some(other));
                }
                _ => {}
            }
            Ok(new)
        };
        let new = create_locked(create).expect("a file");
        held.replace(None);
        assert!(new.path().exists());
        assert_eq!(created.into_inner(), 3);
        assert!(remove_unlocked(new.path()).is_err(), "it is locked");
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
    }
}
