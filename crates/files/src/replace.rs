//! Files that are replaced as a whole.

use std::fs::{self, DirEntry, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::folder::{flush_folder, folder_of};

/// The end of the name of a file that is to replace another one. Before it are that one's name and a random one.
const NEW: &str = ".new";

/// The age of a new file that no process is still writing.
const LEFT: Duration = Duration::from_secs(3600);

/// The most symbolic links from a path to its file.
const MAX_LINKS: usize = 40;

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

#[cfg(test)]
mod tests;
