//! The lock of a folder.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::process;

use thiserror::Error;

/// A locked folder, until this is dropped or the process ends.
pub struct FolderLock {
    file: File,
    /// The process that locked the folder.
    process: u32,
}

impl FolderLock {
    /// The name of the locked file in the folder. It stays when the folder is unlocked.
    pub const FILE: &str = "lock";

    /// Locks a folder, and creates it if it does not exist.
    ///
    /// # Errors
    ///
    /// If another process has locked it, or the system refuses.
    pub fn new(folder: &Path) -> Result<FolderLock, LockError> {
        let fail = |problem| LockError::Open { folder: folder.to_owned(), problem };
        fs::create_dir_all(folder).map_err(fail)?;
        let file = folder.join(Self::FILE);
        // Opening a pipe blocks until a reader appears.
        if fs::symlink_metadata(&file).is_ok_and(|metadata| !metadata.is_file()) {
            let problem = "expected a file, got a folder, a link, a pipe or a device";
            let problem = io::Error::new(io::ErrorKind::InvalidInput, problem);
            return Err(LockError::NoFile { file, problem });
        }
        let mut options = OpenOptions::new();
        let file = options.create(true).truncate(false).write(true).open(file).map_err(fail)?;
        match file.try_lock() {
            Ok(()) => Ok(FolderLock { file, process: process::id() }),
            Err(TryLockError::WouldBlock) => Err(LockError::InUse { folder: folder.to_owned() }),
            Err(TryLockError::Error(problem)) => Err(fail(problem)),
        }
    }
}

impl Drop for FolderLock {
    /// Unlocks the folder. Closing the file would leave the folder locked while a forked process has the file open. A
    /// forked process itself must not unlock the folder.
    fn drop(&mut self) {
        if process::id() == self.process {
            let _ = self.file.unlock();
        }
    }
}

/// The reason why a folder cannot be locked.
#[derive(Debug, Error)]
pub enum LockError {
    /// The folder cannot be created, or its lock cannot be opened.
    #[error("{}: cannot open the folder: {problem}", .folder.display())]
    Open {
        /// The folder.
        folder: PathBuf,
        /// The problem.
        problem: io::Error,
    },
    /// Another process has locked it.
    #[error("{}: another process uses this folder", .folder.display())]
    InUse {
        /// The folder.
        folder: PathBuf,
    },
    /// The lock is not a regular file.
    #[error("{}: cannot write it: {problem}", .file.display())]
    NoFile {
        /// The lock.
        file: PathBuf,
        /// The problem.
        problem: io::Error,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_created_and_has_one_user() {
        let parent = tempfile::tempdir().expect("a folder");
        let folder = parent.path().join("a/b");
        let first = FolderLock::new(&folder).expect("a lock");
        assert!(matches!(FolderLock::new(&folder), Err(LockError::InUse { .. })));
        drop(first);
        FolderLock::new(&folder).expect("a free folder");
    }

    #[test]
    fn a_folder_is_unlocked_although_a_forked_process_has_its_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let lock = || FolderLock::new(folder.path());
        let first = lock().expect("a lock");
        let forked = |process| {
            let file = first.file.try_clone().expect("a file");
            FolderLock { file, process }
        };
        let other = forked(process::id().wrapping_add(1));
        // A forked process ends, and another one goes on.
        drop(forked(other.process));
        assert!(matches!(lock(), Err(LockError::InUse { .. })));
        drop(first);
        drop(lock().expect("a lock"));
        drop(other);
    }

    #[cfg(unix)]
    #[test]
    fn a_lock_that_is_no_file_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let lock = folder.path().join(FolderLock::FILE);
        let made = process::Command::new("mkfifo").arg(&lock).status().expect("mkfifo");
        assert!(made.success());
        let mention =
            "lock: cannot write it: expected a file, got a folder, a link, a pipe or a device";
        let refused = || FolderLock::new(folder.path()).err().expect("a refusal").to_string();
        assert!(refused().ends_with(mention));
        fs::remove_file(&lock).expect("removable");
        std::os::unix::fs::symlink("elsewhere", &lock).expect("a link");
        assert!(refused().ends_with(mention));
        assert!(!folder.path().join("elsewhere").exists());
    }
}
