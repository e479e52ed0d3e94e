//! Single columns of a batch, for callers that plan or report.

use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch};
use randomx_monero::{Difficulty, Hash, unknown_version};

use crate::bytes::{self, Value};
pub use crate::number::digits;
use crate::number::{self, Number};
use crate::{KernelError, requirement, row};

/// Returns the height of each row that has one.
///
/// # Errors
///
/// If the column has another type.
pub fn heights(batch: &RecordBatch) -> Result<Vec<Option<u64>>, KernelError> {
    let column = number::column(batch, "height")?;
    let height = |row| column.as_ref()?.value(row)?.to_u64();
    Ok((0..batch.num_rows()).map(height).collect())
}

/// Returns the seed hash of each row that has a well-formed one.
///
/// # Errors
///
/// If the column has another type.
pub fn seed_hashes(batch: &RecordBatch) -> Result<Vec<Option<Hash>>, KernelError> {
    let column = bytes::column(batch, "seed_hash")?;
    let seed_hash = |row| row::seed_hash(column.as_ref()?.value(row)).ok();
    Ok((0..batch.num_rows()).map(seed_hash).collect())
}

/// Calls `take` with the number and the hashing blob of each row, until it returns false. A row without
/// a well-formed one has none. Returns whether `take` never returned false.
///
/// # Errors
///
/// If the column has another type.
pub fn hashing_blobs(
    batch: &RecordBatch,
    mut take: impl FnMut(usize, Option<&[u8]>) -> bool,
) -> Result<bool, KernelError> {
    let column = bytes::column(batch, "hashing_blob")?;
    Ok((0..batch.num_rows()).all(|row| {
        let value = column.as_ref().and_then(|column| column.value(row));
        take(row, row::blob(value).ok().as_deref())
    }))
}

/// Returns which rows of a result have no verdict because this release does not know the versions of their blocks. Other
/// rows without a verdict are blocks from before RandomX, or have a hash that misses a stated difficulty narrowly.
///
/// # Errors
///
/// If a column is missing or has another type.
pub fn need_update(result: &RecordBatch) -> Result<Vec<bool>, KernelError> {
    let name = "valid";
    let valid = result.column_by_name(name).and_then(|column| column.as_boolean_opt());
    let valid = valid.ok_or(KernelError::Missing { name })?;
    let mut needs = Vec::with_capacity(result.num_rows());
    hashing_blobs(result, |row, blob| {
        let is_unknown = || blob.is_some_and(|blob| unknown_version(blob).is_some());
        needs.push(valid.is_null(row) && is_unknown());
        true
    })?;
    Ok(needs)
}

/// Returns the difficulty of each row that has a well-formed one.
///
/// # Errors
///
/// If the column has another type.
pub fn difficulties(batch: &RecordBatch) -> Result<Vec<Option<Difficulty>>, KernelError> {
    let column = number::column(batch, "difficulty")?;
    let difficulty = |row| requirement::difficulty(&column.as_ref()?.value(row)?).ok();
    Ok((0..batch.num_rows()).map(difficulty).collect())
}

/// Returns a value as text: bytes in hexadecimal, numbers in decimal, and text as it is. U+FFFD replaces bytes that
/// are not valid UTF-8. `None` for nulls, values outside the column's data, and columns that the kernel does not read.
pub fn text(batch: &RecordBatch, name: &'static str, row: usize) -> Option<String> {
    if let Ok(Some(column)) = bytes::column(batch, name) {
        return Some(match column.value(row)? {
            Value::Bytes(bytes) => hex::encode(bytes),
            Value::Text(text) => String::from_utf8_lossy(text).into_owned(),
            Value::Outside => return None,
        });
    }
    Some(match number::column(batch, name).ok()??.value(row)? {
        Number::Integer(integer) => integer.to_string(),
        Number::Large(digits) => digits,
        Number::Text(text) => text.to_owned(),
        Number::Outside => return None,
    })
}
