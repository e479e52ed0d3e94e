//! The lock of a folder, and those of files that are written in it.

use std::fs::{self, OpenOptions, TryLockError};
use std::io;
use std::path::Path;

use randomx_files::{FolderLock, LockError};
use tempfile::NamedTempFile;

use crate::error::Error;

/// The most files that are created until one is locked. Another process that removes files looks at each of them once.
const LOCK_ATTEMPTS: usize = 10;

/// Locks a folder, and creates it if it does not exist.
pub(crate) fn lock(folder: &Path) -> Result<FolderLock, Error> {
    FolderLock::new(folder).map_err(|problem| match problem {
        LockError::InUse { folder } => Error::InUse { folder },
        LockError::Open { folder: path, problem } | LockError::NoFile { file: path, problem } => {
            Error::Write { path, problem }
        }
    })
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
