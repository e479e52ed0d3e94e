//! Columns of bytes, in any type that holds them.

use arrow_array::cast::AsArray;
use arrow_array::types::ByteArrayType;
use arrow_array::{
    Array, BinaryArray, BinaryViewArray, FixedSizeBinaryArray, GenericByteArray, LargeBinaryArray,
    RecordBatch,
};
use arrow_schema::DataType;

use crate::KernelError;
use crate::place::{Place, dictionary, has_view_inside, is_inside};

/// The types that fit, in messages.
const EXPECTED: &str = "bytes, or of hexadecimal digits in strings";

/// A value as its column holds it.
#[derive(Clone, Copy)]
pub(crate) enum Value<'a> {
    Bytes(&'a [u8]),
    /// The bytes of a text, which may not be valid UTF-8: sources such as the Arrow C data interface do not check it.
    Text(&'a [u8]),
    /// The value's key, offsets or view point out of the column's memory.
    Outside,
}

/// A column whose values are bytes or text. Its arrays share the memory of the batch.
pub(crate) enum Column {
    Null,
    Fixed(FixedSizeBinaryArray),
    Binary(BinaryArray),
    LargeBinary(LargeBinaryArray),
    BinaryView(BinaryViewArray),
    /// The bytes of texts.
    Text(Box<Column>),
    /// The place of each row's value, and the values.
    Dictionary(Vec<Place>, Box<Column>),
}

impl Column {
    /// Returns an array's values, or `None` if it has another type.
    pub(crate) fn of(array: &dyn Array) -> Option<Column> {
        let text = |bytes| Column::Text(Box::new(bytes));
        Some(match array.data_type() {
            DataType::Null => Column::Null,
            DataType::FixedSizeBinary(_) => Column::Fixed(array.as_fixed_size_binary().clone()),
            DataType::Binary => Column::Binary(array.as_binary().clone()),
            DataType::LargeBinary => Column::LargeBinary(array.as_binary().clone()),
            DataType::BinaryView => Column::BinaryView(array.as_binary_view().clone()),
            DataType::Utf8 => text(Column::Binary(array.as_string::<i32>().clone().into())),
            DataType::LargeUtf8 => {
                text(Column::LargeBinary(array.as_string::<i64>().clone().into()))
            }
            DataType::Utf8View => {
                text(Column::BinaryView(array.as_string_view().clone().to_binary_view()))
            }
            DataType::Dictionary(..) => {
                let (places, values) = dictionary(array)?;
                Column::Dictionary(places, Box::new(Column::of(values)?))
            }
            _ => return None,
        })
    }

    /// Returns a row's value, unless it is null.
    pub(crate) fn value(&self, row: usize) -> Option<Value<'_>> {
        match self {
            Column::Null => None,
            Column::Fixed(array) => array.is_valid(row).then(|| Value::Bytes(array.value(row))),
            Column::Binary(array) => array.is_valid(row).then(|| value(array, row)),
            Column::LargeBinary(array) => array.is_valid(row).then(|| value(array, row)),
            Column::BinaryView(array) => array.is_valid(row).then(|| {
                if has_view_inside(array, row) {
                    Value::Bytes(array.value(row))
                } else {
                    Value::Outside
                }
            }),
            Column::Text(column) => column.value(row).map(|value| match value {
                Value::Bytes(text) | Value::Text(text) => Value::Text(text),
                Value::Outside => Value::Outside,
            }),
            Column::Dictionary(places, values) => match *places.get(row)? {
                Place::Null => None,
                Place::Value(place) => values.value(place),
                Place::Outside => Some(Value::Outside),
            },
        }
    }
}

/// Returns a row's value in an array of bytes.
fn value<T: ByteArrayType<Native = [u8]>>(array: &GenericByteArray<T>, row: usize) -> Value<'_> {
    if is_inside(array, row) { Value::Bytes(array.value(row)) } else { Value::Outside }
}

/// Returns a column of a batch, if it has one of this name.
fn find<'a>(
    batch: &'a RecordBatch,
    name: &'static str,
) -> Result<Option<&'a dyn Array>, KernelError> {
    let schema = batch.schema_ref();
    let mut found = schema.fields().iter().zip(batch.columns());
    let mut found = found.by_ref().filter(|(field, _)| field.name() == name);
    let first = found.next().map(|(_, array)| array.as_ref());
    match found.next() {
        Some(_) => Err(KernelError::Repeated { name }),
        None => Ok(first),
    }
}

/// Returns a column of a batch as `of` reads it, if the batch has one of this name.
pub(crate) fn read<'a, C>(
    batch: &'a RecordBatch,
    name: &'static str,
    expected: &'static str,
    of: impl FnOnce(&'a dyn Array) -> Option<C>,
) -> Result<Option<C>, KernelError> {
    let Some(array) = find(batch, name)? else { return Ok(None) };
    of(array).map(Some).ok_or_else(|| {
        // A dictionary of any type is read if its values are.
        let got = match array.data_type() {
            DataType::Dictionary(_, values) => values.as_ref().clone(),
            other => other.clone(),
        };
        KernelError::Type { name, expected, got }
    })
}

/// Returns a column of bytes of a batch, if it has one of this name.
pub(crate) fn column(
    batch: &RecordBatch,
    name: &'static str,
) -> Result<Option<Column>, KernelError> {
    read(batch, name, EXPECTED, Column::of)
}
