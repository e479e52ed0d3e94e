//! Files that are read as a whole.

use std::{fs::File, io::Read, path::Path};

use crate::error::Error;

/// Reads a file, which may be a pipe or a device without an end, of at most `limit` bytes.
pub(crate) fn read(file: &Path, limit: u64) -> Result<Vec<u8>, Error> {
    let unreadable = |problem| Error::Read { file: file.to_owned(), problem };
    let mut bytes = Vec::new();
    // One byte more shows that it is too long.
    let opened = File::open(file).map_err(unreadable)?;
    opened.take(limit + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > limit {
        return Err(Error::TooLarge { file: file.to_owned(), limit });
    }
    Ok(bytes)
}
