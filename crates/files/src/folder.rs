//! Folders of files that are replaced.

use std::fs::File;
use std::io;
use std::path::Path;

/// The error of Unix for a file that is not open in the right way.
const EBADF: i32 = 9;

/// Returns the folder of a file.
pub fn folder_of(file: &Path) -> &Path {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// Flushes a folder to the disk, and with it the renames of its files, where the system can.
///
/// # Errors
///
/// If there is no such folder, or the system fails.
pub fn flush_folder(folder: &Path) -> io::Result<()> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_system_that_flushes_no_folders_is_no_failure() {
        let folder = Path::new("/proc");
        File::open(folder).expect("a folder").sync_all().expect_err("not supported there");
        flush_folder(folder).expect("no failure");
        assert!(flush_folder(Path::new("/proc/absent")).is_err());
    }

    #[test]
    fn a_name_alone_is_in_the_current_folder() {
        assert_eq!(folder_of(Path::new("file")), Path::new("."));
        assert_eq!(folder_of(Path::new("a/file")), Path::new("a"));
    }
}
