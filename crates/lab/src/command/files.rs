//! Writing reports: a file gets its new content completely, or keeps the earlier one.

use std::{
    fs,
    io::{self, ErrorKind, Write},
    path::{Path, PathBuf},
    process,
};

use super::Failure;

/// Fails if two of these options name one file.
pub(super) fn check_different(files: &[(&'static str, &Path)]) -> Result<(), Failure> {
    for (index, &(option, file)) in files.iter().enumerate() {
        let same = |(_, other): &&(_, &Path)| place(other) == place(file);
        if let Some(&(first, other)) = files[..index].iter().find(same) {
            let files = [other.to_owned(), file.to_owned()];
            return Err(Failure::SameFile { options: [first, option], files });
        }
    }
    Ok(())
}

/// Returns one path for all spellings of it, so that two can be compared.
fn place(file: &Path) -> PathBuf {
    let in_folder = || Some(folder(file).canonicalize().ok()?.join(file.file_name()?));
    file.canonicalize().ok().or_else(in_folder).unwrap_or_else(|| file.to_owned())
}

/// Fails if a file cannot be written. Changes no file, and leaves no new one.
pub(super) fn check_writable(file: &Path) -> io::Result<()> {
    match fs::File::create_new(file) {
        Ok(_) => fs::remove_file(file),
        Err(problem) if problem.kind() == ErrorKind::AlreadyExists => match replaced(file)? {
            Some(target) => {
                fs::File::options().append(true).open(&target)?;
                New::beside(&target).map(drop)
            }
            // Opening and closing a pipe would end it for its reader.
            None => Ok(()),
        },
        Err(problem) => Err(problem),
    }
}

/// Fails if no file can be created in a folder. Leaves no new one.
pub(super) fn check_folder(folder: &Path) -> io::Result<()> {
    New::beside(&folder.join("picture")).map(drop)
}

/// Writes a file. If that fails, an earlier file stays.
pub(super) fn write(file: &Path, text: &str) -> io::Result<()> {
    let Some(target) = replaced(file)? else {
        return fs::write(file, text);
    };
    let mut new = New::beside(&target)?;
    new.file.write_all(text.as_bytes())?;
    if let Ok(earlier) = fs::metadata(&target) {
        new.file.set_permissions(earlier.permissions())?;
    }
    fs::rename(&new.path, &target)
}

/// Returns the file to replace, behind any link. Returns nothing for a pipe or device, which is written in place.
fn replaced(file: &Path) -> io::Result<Option<PathBuf>> {
    match fs::metadata(file) {
        // A link stays; the file that it leads to is replaced.
        Ok(found) if found.is_file() => file.canonicalize().map(Some),
        Ok(found) if found.is_dir() => Err(ErrorKind::IsADirectory.into()),
        Ok(_) => Ok(None),
        Err(problem) if problem.kind() == ErrorKind::NotFound => Ok(Some(file.to_owned())),
        Err(problem) => Err(problem),
    }
}

fn folder(file: &Path) -> &Path {
    let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty());
    parent.unwrap_or(Path::new("."))
}

/// A new file, which is removed unless it was renamed.
struct New {
    path: PathBuf,
    file: fs::File,
}

impl New {
    /// Creates a file in the folder of `target`.
    fn beside(target: &Path) -> io::Result<New> {
        let path = folder(target).join(format!(".randomx-lab-{}.new", process::id()));
        // A process with the same id may have been killed.
        let _ = fs::remove_file(&path);
        let file = fs::File::create_new(&path)?;
        Ok(New { path, file })
    }
}

impl Drop for New {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}
