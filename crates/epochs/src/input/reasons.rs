//! Reasons of rows that come from JSON lines.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch, StringArray};
use arrow_schema::ArrowError;

use super::fields::FIELDS;
use super::lines::SCHEMA;

/// The reason for a line without a field that the kernel reads.
const NO_FIELDS: &str =
    "line: expected a JSON object of at most 3 MiB with the fields of a proof of work, each once";

/// Replaces the reasons of JSON lines without a height and any field of [`FIELDS`]. The kernel names the first
/// null column. Returns the result of Parquet rows unchanged, which may have columns of the same names.
pub(crate) fn name_lines(
    rows: &RecordBatch,
    result: RecordBatch,
) -> Result<RecordBatch, ArrowError> {
    if !Arc::ptr_eq(rows.schema_ref(), &SCHEMA) {
        return Ok(result);
    }
    let fields = result.columns().iter().skip(1).take(1 + FIELDS.len());
    let is_empty = |row| fields.clone().all(|column| column.is_null(row));
    if !(0..result.num_rows()).any(is_empty) {
        return Ok(result);
    }
    let reasons = result["reason"].as_string::<i32>();
    let reason = |(row, reason)| if is_empty(row) { Some(NO_FIELDS) } else { reason };
    let reasons: StringArray = reasons.iter().enumerate().map(reason).collect();
    let (schema, mut columns) = (result.schema(), result.columns().to_vec());
    columns[schema.index_of("reason")?] = Arc::new(reasons);
    RecordBatch::try_new(schema, columns)
}
