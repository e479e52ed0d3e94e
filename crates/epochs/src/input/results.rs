//! Files of results. Anyone who can write to the folder may have replaced them, so they get the checks of
//! inputs before the Parquet reader parses them.

use std::path::Path;

use arrow_array::RecordBatch;

use super::footer;
use super::table_files::TableFile;
use crate::error::Error;
use crate::storage::Chunks;

/// The most memory that reading a result may take. Its footer may have 16 MiB.
const MOST: usize = 1 << 30;

/// Returns the value of a key in a file's metadata. A damaged file has none, and remembers a failure of the storage. The
/// file of a long epoch may have any number of row groups, so the Parquet reader does not parse its footer.
pub(crate) fn value(file: &Chunks, path: &Path, key: &str) -> Option<String> {
    footer::value(file, path, key).ok()?
}

/// Returns the number of rows that the footer of a damaged file names. The file remembers a failure of the storage.
pub(crate) fn rows(file: &Chunks, path: &Path) -> Option<u64> {
    footer::rows(file, path).ok()?
}

/// Reads columns of a file into `take`. Returns `None` if a check refuses the file, it is damaged, or `take` returns
/// `None`.
///
/// # Errors
///
/// If the storage fails, unless the file remembers that.
pub(crate) fn read(
    file: &Chunks,
    path: &Path,
    columns: [&str; 2],
    take: impl FnMut(&RecordBatch) -> Option<()>,
) -> Result<Option<()>, Error> {
    if footer::check(file, path, MOST).is_err() {
        return Ok(None);
    }
    match read_checked(file, path, columns, take) {
        // The footer is not malformed, so the storage failed.
        Err(failed @ Error::Read { .. }) => Err(failed),
        Err(_) => Ok(None),
        read => read,
    }
}

fn read_checked(
    file: &Chunks,
    path: &Path,
    columns: [&str; 2],
    mut take: impl FnMut(&RecordBatch) -> Option<()>,
) -> Result<Option<()>, Error> {
    let table = TableFile::of(file, path.to_owned())?;
    let size = table.measure(file, MOST, columns)?.scanned;
    let mut rows = table.guard(file, || table.columns(table.builder(file)?, columns, size))?;
    while let Some(batch) = table.guard(file, || table.next(&mut rows))? {
        if take(&batch).is_none() {
            return Ok(None);
        }
    }
    Ok(Some(()))
}
