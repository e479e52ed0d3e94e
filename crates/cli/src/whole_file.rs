//! Files that are read as a whole.

use std::path::Path;

use randomx_files::read_up_to;

use crate::error::Error;

/// Reads a file, which may be a pipe or a device without an end, of at most `limit` bytes.
pub(crate) fn read(file: &Path, limit: u64) -> Result<Vec<u8>, Error> {
    match read_up_to(file, limit) {
        Ok(Some(bytes)) => Ok(bytes),
        Ok(None) => Err(Error::TooLarge { file: file.to_owned(), limit }),
        Err(problem) => Err(Error::Read { file: file.to_owned(), problem }),
    }
}
