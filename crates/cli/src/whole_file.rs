//! Files that are read as a whole.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

use crate::error::Error;

/// Reads a file, which may be a pipe or a device without an end, of at most `limit` bytes.
pub(crate) fn read(file: &Path, limit: u64) -> Result<Vec<u8>, Error> {
    match read_up_to(file, limit) {
        Ok(Some(bytes)) => Ok(bytes),
        Ok(None) => Err(Error::TooLarge { file: file.to_owned(), limit }),
        Err(problem) => Err(Error::Read { file: file.to_owned(), problem }),
    }
}

/// As [`read`], for callers that name the file themselves. Returns `None` if it is longer than `limit`.
pub(crate) fn read_up_to(file: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    // One byte more shows that it is too long.
    File::open(file)?.take(limit + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= limit).then_some(bytes))
}
