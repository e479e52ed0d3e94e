//! The client's state on disk.

use std::io;
use std::path::{Path, PathBuf};

use randomx_files::{FolderLock, LockError, read_up_to, remove_leftovers, replace_file};
use thiserror::Error;

/// The name of the state's file in its folder.
const STATE: &str = "chain";

/// The longest state that is read. Three days of headers have 250 KB.
const MAX_BYTES: u64 = 16 << 20;

/// A folder with the state of one client. Only one process can have it open.
///
/// The state is replaced as a whole: written to a new file with a random name, flushed to the disk,
/// and renamed. Whenever the process or the system ends, the folder has the old or the new state.
pub struct Store {
    folder: PathBuf,
    _lock: FolderLock,
}

impl Store {
    /// Opens a folder, and creates it if it does not exist.
    ///
    /// # Errors
    ///
    /// If another process has it open, or the system refuses.
    pub fn open(folder: &Path) -> Result<Store, StoreFileError> {
        let lock = FolderLock::new(folder)?;
        remove_leftovers(folder, |name| name == STATE);
        Ok(Store { folder: folder.to_owned(), _lock: lock })
    }

    /// Reads the state, if there is one.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or is too long.
    pub fn read(&self) -> Result<Option<Vec<u8>>, StoreFileError> {
        let fail = |problem| StoreFileError::Read { file: self.state(), problem };
        match read_state(&self.state()) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(problem) if problem.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(problem) => Err(fail(problem)),
        }
    }

    /// Replaces the state. The file keeps its mode.
    ///
    /// # Errors
    ///
    /// If the system refuses, or the state has more than 16 MiB, which [`Store::read`] would refuse. Then the old state
    /// stays, unless only the flush of the folder failed.
    pub fn write(&self, bytes: &[u8]) -> Result<(), StoreFileError> {
        let file = self.state();
        let is_short = bytes.len() as u64 <= MAX_BYTES;
        let written = if is_short { replace_file(&file, bytes) } else { Err(too_long()) };
        written.map_err(|problem| StoreFileError::Write { file, problem })
    }

    fn state(&self) -> PathBuf {
        state_file(&self.folder)
    }
}

/// Returns the path of the state's file in a client's folder.
pub fn state_file(folder: &Path) -> PathBuf {
    folder.join(STATE)
}

/// Reads a client's state, of at most 16 MiB. The client may be running: it replaces the file as a whole.
///
/// # Errors
///
/// If there is no such file, or it cannot be read, or it is too long.
pub fn read_state(file: &Path) -> io::Result<Vec<u8>> {
    read_up_to(file, MAX_BYTES)?.ok_or_else(too_long)
}

fn too_long() -> io::Error {
    io::Error::other(format!("expected at most {MAX_BYTES} bytes, got more"))
}

/// The reason why a store cannot be used.
#[derive(Debug, Error)]
pub enum StoreFileError {
    /// The folder cannot be locked.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The state cannot be read.
    #[error("{}: cannot read it: {problem}", .file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// The problem.
        problem: io::Error,
    },
    /// The state cannot be written.
    #[error("{}: cannot write it: {problem}", .file.display())]
    Write {
        /// The file.
        file: PathBuf,
        /// The problem.
        problem: io::Error,
    },
}

#[cfg(test)]
mod tests;
