//! The types in which columns of a Parquet file are read. A file may contain a schema of Arrow besides its own, whose
//! types the Parquet reader takes, although it cannot read some of them.

use std::io;
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, OffsetSizeTrait, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Fields, Schema};
use parquet::basic::{ConvertedType, Type};
use parquet::schema::types::{ColumnDescriptor, SchemaDescriptor};

use super::thrift::malformed;

/// Returns the schema with other types for the columns that cannot be read in theirs, if it has any.
pub(super) fn readable(schema: &Schema, columns: &SchemaDescriptor) -> Option<Schema> {
    let as_read = |(field, column): (&Arc<Field>, _)| {
        let data_type = read_as(field.data_type(), column);
        Arc::new(field.as_ref().clone().with_data_type(data_type))
    };
    let columns = columns.columns().iter().map(AsRef::as_ref);
    let fields: Vec<_> = schema.fields().iter().zip(columns).map(as_read).collect();
    let readable = Schema::new_with_metadata(fields, schema.metadata().clone());
    (readable != *schema).then_some(readable)
}

/// Returns the type in which a column is read.
fn read_as(data_type: &DataType, column: &ColumnDescriptor) -> DataType {
    // The reader checks the UTF-8 of these columns only.
    let is_checked = column.converted_type() == ConvertedType::UTF8;
    let is_text = is_checked || column.converted_type() == ConvertedType::JSON;
    match data_type {
        // A view keeps the whole page of its value in memory.
        DataType::Utf8View => read_as(&DataType::Utf8, column),
        DataType::BinaryView => DataType::Binary,
        DataType::Utf8 if !is_text => DataType::Binary,
        DataType::LargeUtf8 if !is_text => DataType::LargeBinary,
        DataType::Dictionary(keys, values) => {
            let values = read_as(values, column);
            let has_reader = match values {
                DataType::Binary | DataType::LargeBinary => true,
                DataType::Utf8 | DataType::LargeUtf8 => is_checked,
                _ => {
                    let kind = column.physical_type();
                    !matches!(kind, Type::BYTE_ARRAY | Type::FIXED_LEN_BYTE_ARRAY)
                }
            };
            if has_reader { DataType::Dictionary(keys.clone(), Box::new(values)) } else { values }
        }
        other => other.clone(),
    }
}

/// Checks that a file has the columns of the first one: rows of both can be in one result. The error names the first
/// column that has another name, another type or another place.
pub(super) fn check_columns(
    first: &Path,
    expected: &Fields,
    fields: &Fields,
) -> Result<(), (String, String)> {
    let is_same =
        |(a, b): &(&FieldRef, &FieldRef)| a.name() == b.name() && a.data_type() == b.data_type();
    let same = expected.iter().zip(fields).take_while(is_same).count();
    let (expected, got) = (expected.get(same), fields.get(same));
    let Some(different) = got.or(expected) else { return Ok(()) };
    let describe = |field: &FieldRef| format!("{:?} of type {}", field.name(), field.data_type());
    let [expected, got] = [expected, got].map(|field| field.map_or("none".to_owned(), describe));
    let first = first.display();
    let problem = format!("expected the same columns as in {first}, here {expected}, got {got}");
    Err((different.name().clone(), problem))
}

/// Returns whether two files with the same columns allow nulls in different ones.
pub(super) fn differ_in_nulls(first: &Fields, other: &Fields) -> bool {
    first.iter().zip(other).any(|(a, b)| a.is_nullable() != b.is_nullable())
}

/// Returns the rows with columns that may all have nulls.
pub(super) fn with_nulls(batch: RecordBatch) -> Result<RecordBatch, ArrowError> {
    let schema = batch.schema();
    let nullable = |field: &FieldRef| field.as_ref().clone().with_nullable(true);
    let fields: Fields = schema.fields().iter().map(nullable).collect();
    batch.with_schema(Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone())))
}

/// Checks that each array of a batch is what its type says, and that all texts are UTF-8. The reader does not check
/// those of JSON. The error names the first column that fails.
pub(super) fn check(batch: &RecordBatch) -> Result<(), (String, ArrowError)> {
    for (field, array) in batch.schema_ref().fields().iter().zip(batch.columns()) {
        let data = array.to_data();
        let checked = match data.data_type() {
            DataType::Utf8 | DataType::LargeUtf8 => data.validate_full(),
            _ => data.validate(),
        };
        checked.map_err(|problem| (field.name().clone(), problem))?;
    }
    Ok(())
}

/// Returns the bytes of the longest value of an array of variable length, and 0 for other arrays.
pub(super) fn longest(array: &dyn Array) -> u64 {
    fn between<O: OffsetSizeTrait>(offsets: &[O]) -> u64 {
        let lengths = offsets.iter().zip(offsets.iter().skip(1));
        lengths.map(|(start, end)| (end.as_usize() - start.as_usize()) as u64).max().unwrap_or(0)
    }
    match array.data_type() {
        DataType::Utf8 => between(array.as_string::<i32>().value_offsets()),
        DataType::LargeUtf8 => between(array.as_string::<i64>().value_offsets()),
        DataType::Binary => between(array.as_binary::<i32>().value_offsets()),
        DataType::LargeBinary => between(array.as_binary::<i64>().value_offsets()),
        DataType::Dictionary(..) => longest(array.as_any_dictionary().values()),
        _ => 0,
    }
}

/// Checks that a dictionary of values of one length has these and no more bytes. The Parquet crate's writer puts a
/// length before each value of some dictionaries, which its reader would take for a part of the value.
pub(super) fn check_dictionary(
    column: &ColumnDescriptor,
    values: u64,
    size: u64,
) -> io::Result<()> {
    if column.physical_type() != Type::FIXED_LEN_BYTE_ARRAY {
        return Ok(());
    }
    let length = u64::try_from(column.type_length()).unwrap_or(0);
    if length.checked_mul(values) == Some(size) {
        return Ok(());
    }
    Err(malformed(&format!(
        "expected a dictionary of values of {length} bytes, got {size} bytes for {values}"
    )))
}
