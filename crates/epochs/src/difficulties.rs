//! The difficulties in the file of an epoch.

use std::ops::RangeInclusive;

use arrow_array::RecordBatch;
use randomx_arrow::read;

use crate::error::Error;
use crate::folder::Folder;

/// Returns the difficulties of a file's rows at some heights, or `None` if there is no such file or it is damaged. A row
/// without a well-formed difficulty has none.
///
/// # Errors
///
/// If the storage fails.
pub fn difficulties(
    folder: &Folder,
    file: &str,
    heights: &RangeInclusive<u64>,
) -> Result<Option<Vec<Option<u128>>>, Error> {
    let mut found = Vec::new();
    let add = |batch: &RecordBatch| {
        let rows = read::heights(batch).ok()?.into_iter().zip(read::difficulties(batch).ok()?);
        let is_chosen =
            |height: Option<u64>| height.is_some_and(|height| heights.contains(&height));
        let chosen = rows.filter(|&(height, _)| is_chosen(height));
        found.extend(chosen.map(|(_, difficulty)| difficulty?.as_u128()));
        Some(())
    };
    let read = folder.read(file, ["height", "difficulty"], add)?;
    Ok(read.map(|()| found))
}
