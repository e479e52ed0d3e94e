//! Files that are read as a whole.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Reads a file, which may be a pipe or a device without an end. Returns `None` if it is longer than `limit` bytes.
///
/// # Errors
///
/// If there is no such file, or it cannot be read.
pub fn read_up_to(file: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    // One byte more shows that it is too long.
    File::open(file)?.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= limit).then_some(bytes))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_file_that_is_too_long_is_not_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("file");
        fs::write(&file, b"12345").expect("writable");
        assert_eq!(read_up_to(&file, 5).expect("readable").as_deref(), Some(&b"12345"[..]));
        assert_eq!(read_up_to(&file, 4).expect("readable"), None);
    }

    #[cfg(unix)]
    #[test]
    fn a_device_without_an_end_is_too_long() {
        assert_eq!(read_up_to(Path::new("/dev/zero"), 1000).expect("readable"), None);
    }
}
