//! Files of results. Anyone who can write to the folder may have replaced them, so they get the checks of
//! inputs before the Parquet reader parses them.

use std::io;
use std::path::Path;

use arrow_array::RecordBatch;
use parquet::file::reader::{FileReader, SerializedFileReader};

use super::footer;
use super::table_files::TableFile;
use crate::error::{Error, without_panic};
use crate::storage::Chunks;

/// The most memory that reading a result may take. Its footer may have 16 MiB.
const MOST: usize = 1 << 30;

/// Returns the value of a key in the metadata of a file whose checksum is right. The file of a long epoch may have any
/// number of row groups, so the Parquet reader does not parse its footer.
pub(crate) fn value_of_intact(
    file: &Chunks,
    path: &Path,
    key: &str,
) -> Result<Option<String>, Error> {
    Ok(unless_damaged(footer::value(file, path, key))?.flatten())
}

/// Returns the value of a key in a file's metadata. A damaged file has none.
pub(crate) fn value(file: &Chunks, path: &Path, key: &str) -> Result<Option<String>, Error> {
    if !has_footer(file, path)? {
        return Ok(None);
    }
    let find = || {
        let reader = SerializedFileReader::new(file.clone()).ok()?;
        let pairs = reader.metadata().file_metadata().key_value_metadata()?;
        pairs.iter().find(|pair| pair.key == key)?.value.clone()
    };
    without_panic(path, || Ok(find()))
}

/// Returns the number of rows that the footer of a damaged file names. The file remembers a failure of the storage.
pub(crate) fn rows(file: &Chunks, path: &Path) -> Option<u64> {
    footer::rows(file, path).ok()?
}

/// Reads columns of a file into `take`. Returns `None` if the file is damaged, or `take` returns `None`.
pub(crate) fn read(
    file: &Chunks,
    path: &Path,
    columns: [&str; 2],
    take: impl FnMut(&RecordBatch) -> Option<()>,
) -> Result<Option<()>, Error> {
    if !has_footer(file, path)? {
        return Ok(None);
    }
    match read_checked(file, path, columns, take) {
        Err(Error::Column { .. } | Error::Parquet { .. } | Error::Arrow { .. }) => Ok(None),
        read => read.map_err(advise),
    }
}

/// Replaces advice for the author of an input: a result can be removed.
fn advise(refused: Error) -> Error {
    match refused {
        Error::Footer { path, .. } | Error::Pages { path, .. } => {
            Error::LargeResult { path, most: MOST as u64 }
        }
        other => other,
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

/// Whether a file has a footer that is not damaged.
///
/// # Errors
///
/// If a check refuses the footer.
fn has_footer(file: &Chunks, path: &Path) -> Result<bool, Error> {
    Ok(unless_damaged(footer::check(file, path, MOST))?.is_some())
}

/// Returns what was read of a footer, or `None` if it is damaged.
fn unless_damaged<T>(read: Result<T, Error>) -> Result<Option<T>, Error> {
    let is_damage = |problem: &io::Error| {
        matches!(problem.kind(), io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof)
    };
    match read {
        Ok(read) => Ok(Some(read)),
        Err(Error::NotParquet { .. }) => Ok(None),
        Err(Error::Read { problem, .. }) if is_damage(&problem) => Ok(None),
        Err(refused) => Err(advise(refused)),
    }
}
