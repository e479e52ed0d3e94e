//! The client's state on disk.

use std::fs::{self, DirEntry, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use thiserror::Error;

/// The name of the state's file in its folder.
const STATE: &str = "chain";

/// The name of the file that is locked.
const LOCK: &str = "lock";

/// The end of the name of a file that is to replace another one. Before it are that one's name and a random one.
const NEW: &str = ".new";

/// The age of a new file that no process is still writing.
const LEFT: Duration = Duration::from_secs(3600);

/// The most symbolic links from a path to its file.
const MAX_LINKS: usize = 40;

/// The longest state that is read. Three days of headers have 250 KB.
const MAX_BYTES: u64 = 16 << 20;

/// The error of Unix for a file that is not open in the right way.
const EBADF: i32 = 9;

/// A folder with the state of one client. Only one process can have it open.
///
/// The state is replaced as a whole: written to a new file with a random name, flushed to the disk,
/// and renamed. Whenever the process or the system ends, the folder has the old or the new state.
pub struct Store {
    folder: PathBuf,
    /// Locked until the store is dropped, or the process ends.
    _lock: File,
}

impl Store {
    /// Opens a folder, and creates it if it does not exist.
    ///
    /// # Errors
    ///
    /// If another process has it open, or the system refuses.
    pub fn open(folder: &Path) -> Result<Store, StoreFileError> {
        let fail = |problem| StoreFileError::Open { folder: folder.to_owned(), problem };
        fs::create_dir_all(folder).map_err(fail)?;
        let file = folder.join(LOCK);
        // Opening a pipe blocks until a reader appears.
        if fs::symlink_metadata(&file).is_ok_and(|metadata| !metadata.is_file()) {
            let problem = "expected a file, got a folder, a link, a pipe or a device";
            let problem = io::Error::new(io::ErrorKind::InvalidInput, problem);
            return Err(StoreFileError::Write { file, problem });
        }
        let mut options = OpenOptions::new();
        let lock = options.create(true).truncate(false).write(true).open(file);
        let lock = lock.map_err(fail)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(StoreFileError::InUse { folder: folder.to_owned() });
            }
            Err(TryLockError::Error(problem)) => return Err(fail(problem)),
        }
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
        let replace = || {
            check_length(bytes)?;
            replace_file(&file, bytes)
        };
        replace().map_err(|problem| StoreFileError::Write { file, problem })
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
    let mut bytes = Vec::new();
    File::open(file)?.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    check_length(&bytes)?;
    Ok(bytes)
}

fn check_length(state: &[u8]) -> io::Result<()> {
    if state.len() as u64 > MAX_BYTES {
        return Err(io::Error::other(format!("more than {MAX_BYTES} bytes")));
    }
    Ok(())
}

/// Replaces a file as a whole: writes a new one with a random name, flushes it to the disk and renames
/// it. The new file has the mode of the old one. If the path is a symbolic link, its target is replaced.
///
/// # Errors
///
/// If the system refuses, or the path is a device, a pipe or another file that is not regular. Then the old
/// file stays, unless only the flush of its folder failed.
pub fn replace_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let path = &target(path)?;
    let new = beside(path);
    let write = || {
        let mut file = OpenOptions::new().create_new(true).write(true).open(&new)?;
        if let Ok(old) = fs::metadata(path) {
            file.set_permissions(old.permissions())?;
        }
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&new, path)?;
        flush_folder(folder_of(path))
    };
    write().inspect_err(|_| {
        // The error that matters is the first one.
        let _ = fs::remove_file(&new);
    })
}

/// Removes the new files that processes left in a folder when they ended in [`replace_file`]. They were to replace
/// files whose names `is_replaced` accepts. No process may be replacing any of these.
pub fn remove_leftovers(folder: &Path, is_replaced: impl Fn(&str) -> bool) {
    remove_leftovers_if(folder, is_replaced, |_| true);
}

/// As [`remove_leftovers`], where another process may be replacing such a file: keeps the new files of the last hour.
pub fn remove_old_leftovers(folder: &Path, is_replaced: impl Fn(&str) -> bool) {
    let now = SystemTime::now();
    remove_leftovers_if(folder, is_replaced, |file| {
        let written = file.metadata().and_then(|metadata| metadata.modified());
        written.is_ok_and(|time| now.duration_since(time).is_ok_and(|age| age > LEFT))
    });
}

fn remove_leftovers_if(
    folder: &Path,
    is_replaced: impl Fn(&str) -> bool,
    is_left: impl Fn(&DirEntry) -> bool,
) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let parts = name.strip_suffix(NEW).and_then(|name| name.rsplit_once('.'));
        let is_new = |(replaced, random)| is_random(random) && is_replaced(replaced);
        if parts.is_some_and(is_new) && is_left(&entry) {
            // A file that stays takes space and does no other harm.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Flushes a folder to the disk, and with it the renames of its files, where the system can.
fn flush_folder(folder: &Path) -> io::Result<()> {
    // Windows opens no folders.
    if cfg!(windows) {
        return Ok(());
    }
    File::open(folder)?.sync_all().or_else(|problem| {
        // Some file systems flush no folders.
        let is_impossible = problem.raw_os_error() == Some(EBADF)
            || matches!(problem.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported);
        if is_impossible { Ok(()) } else { Err(problem) }
    })
}

/// Checks that [`replace_file`] can replace a file: creates another one beside it and removes that again. Also removes
/// the new files that processes left more than an hour ago when they ended in [`replace_file`].
///
/// # Errors
///
/// If it cannot be replaced.
pub fn can_replace_file(path: &Path) -> io::Result<()> {
    let target = target(path)?;
    let new = beside(&target);
    File::create_new(&new)?;
    fs::remove_file(&new)?;
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    remove_old_leftovers(folder_of(&target), |replaced| replaced == name);
    Ok(())
}

/// Returns the folder of a file.
fn folder_of(file: &Path) -> &Path {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// Follows symbolic links to a regular file, or to a path without a file.
fn target(path: &Path) -> io::Result<PathBuf> {
    // The system refuses to follow some links that another user has made.
    match fs::metadata(path) {
        Ok(file) if !file.is_file() => {
            return Err(io::Error::other("expected a regular file, or none yet"));
        }
        Err(problem) if problem.kind() != io::ErrorKind::NotFound => return Err(problem),
        _ => {}
    }
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        if !path.is_symlink() {
            return Ok(path);
        }
        let link = fs::read_link(&path)?;
        path.pop();
        path.push(link);
    }
    Err(io::Error::other("expected a file, got a link that leads to links without end"))
}

/// Returns a path for a new file that is to replace another one.
fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}{NEW}", random_name()));
    PathBuf::from(name)
}

/// Returns a name of 16 digits that no other process guesses, or one of this process where there is no
/// randomness: a name that is taken makes the write fail, and nothing else.
fn random_name() -> String {
    let mut bytes = [0; 8];
    if getrandom::fill(&mut bytes).is_err() {
        bytes = u64::from(std::process::id()).to_be_bytes();
    }
    hex::encode(bytes)
}

/// Whether [`random_name`] can return a name. Other names are a user's files.
fn is_random(name: &str) -> bool {
    let is_digit = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    name.len() == 16 && name.bytes().all(is_digit)
}

/// The reason why a store cannot be used.
#[derive(Debug, Error)]
pub enum StoreFileError {
    /// The folder cannot be opened.
    #[error("{}: cannot open the folder: {problem}", .folder.display())]
    Open {
        /// The folder.
        folder: PathBuf,
        /// The problem.
        problem: io::Error,
    },
    /// Another process has it open.
    #[error("{}: another process uses this folder", .folder.display())]
    InUse {
        /// The folder.
        folder: PathBuf,
    },
    /// The state cannot be read.
    #[error("{}: cannot read it: {problem}", .file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// The problem.
        problem: io::Error,
    },
    /// The state or the lock cannot be written.
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
