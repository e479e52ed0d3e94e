//! Columns of whole numbers, in any type that holds them.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, Int8Type, Int16Type, Int32Type,
    Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrowPrimitiveType, Decimal256Array, PrimitiveArray, RecordBatch};
use arrow_schema::DataType;

use crate::KernelError;
use crate::bytes::{self, Column as Bytes, Value};
use crate::place::{Place, dictionary};

/// The types that fit, in messages.
const EXPECTED: &str = "integers, decimals without a fraction, or decimal digits in strings";

/// Stands for a text that is not valid UTF-8. No number is written like this.
const NO_TEXT: &str = "\u{fffd}";

/// A number as its column holds it.
pub(crate) enum Number<'a> {
    Integer(i128),
    /// A decimal of 256 bits, written out.
    Large(String),
    Text(&'a str),
    /// See [`Value::Outside`].
    Outside,
}

impl Number<'_> {
    /// Returns the number if it fits.
    pub(crate) fn to_u64(&self) -> Option<u64> {
        match self {
            Number::Integer(integer) => u64::try_from(*integer).ok(),
            Number::Large(digits) => digits.parse().ok(),
            Number::Text(text) => digits(text),
            Number::Outside => None,
        }
    }
}

/// Parses decimal digits. Rust's own parser also takes a sign.
pub fn digits(text: &str) -> Option<u64> {
    text.parse().ok().filter(|_| !text.starts_with('+'))
}

/// A column whose values are whole numbers.
pub(crate) enum Column<'a> {
    UInt8(&'a PrimitiveArray<UInt8Type>),
    UInt16(&'a PrimitiveArray<UInt16Type>),
    UInt32(&'a PrimitiveArray<UInt32Type>),
    UInt64(&'a PrimitiveArray<UInt64Type>),
    Int8(&'a PrimitiveArray<Int8Type>),
    Int16(&'a PrimitiveArray<Int16Type>),
    Int32(&'a PrimitiveArray<Int32Type>),
    Int64(&'a PrimitiveArray<Int64Type>),
    Decimal32(&'a PrimitiveArray<Decimal32Type>),
    Decimal64(&'a PrimitiveArray<Decimal64Type>),
    Decimal128(&'a PrimitiveArray<Decimal128Type>),
    Decimal256(&'a Decimal256Array),
    /// Digits, or nulls only.
    Text(Bytes),
    /// The place of each row's value, and the values.
    Dictionary(Vec<Place>, Box<Column<'a>>),
}

impl<'a> Column<'a> {
    /// Returns an array's values, or `None` if it has another type.
    fn of(array: &'a dyn Array) -> Option<Column<'a>> {
        Some(match array.data_type() {
            DataType::UInt8 => Column::UInt8(array.as_primitive()),
            DataType::UInt16 => Column::UInt16(array.as_primitive()),
            DataType::UInt32 => Column::UInt32(array.as_primitive()),
            DataType::UInt64 => Column::UInt64(array.as_primitive()),
            DataType::Int8 => Column::Int8(array.as_primitive()),
            DataType::Int16 => Column::Int16(array.as_primitive()),
            DataType::Int32 => Column::Int32(array.as_primitive()),
            DataType::Int64 => Column::Int64(array.as_primitive()),
            DataType::Decimal32(_, 0) => Column::Decimal32(array.as_primitive()),
            DataType::Decimal64(_, 0) => Column::Decimal64(array.as_primitive()),
            DataType::Decimal128(_, 0) => Column::Decimal128(array.as_primitive()),
            DataType::Decimal256(_, 0) => {
                Column::Decimal256(array.as_primitive::<Decimal256Type>())
            }
            DataType::Null | DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
                Column::Text(Bytes::of(array)?)
            }
            DataType::Dictionary(..) => {
                let (places, values) = dictionary(array)?;
                Column::Dictionary(places, Box::new(Column::of(values)?))
            }
            _ => return None,
        })
    }

    /// Returns a row's value, unless it is null.
    pub(crate) fn value(&self, row: usize) -> Option<Number<'_>> {
        match self {
            Column::UInt8(array) => integer(array, row),
            Column::UInt16(array) => integer(array, row),
            Column::UInt32(array) => integer(array, row),
            Column::UInt64(array) => integer(array, row),
            Column::Int8(array) => integer(array, row),
            Column::Int16(array) => integer(array, row),
            Column::Int32(array) => integer(array, row),
            Column::Int64(array) => integer(array, row),
            Column::Decimal32(array) => integer(array, row),
            Column::Decimal64(array) => integer(array, row),
            Column::Decimal128(array) => integer(array, row),
            Column::Decimal256(array) => {
                array.is_valid(row).then(|| Number::Large(array.value(row).to_string()))
            }
            Column::Text(column) => match column.value(row)? {
                Value::Text(text) => Some(Number::Text(str::from_utf8(text).unwrap_or(NO_TEXT))),
                Value::Bytes(_) => None,
                Value::Outside => Some(Number::Outside),
            },
            Column::Dictionary(places, values) => match *places.get(row)? {
                Place::Null => None,
                Place::Value(place) => values.value(place),
                Place::Outside => Some(Number::Outside),
            },
        }
    }
}

fn integer<T: ArrowPrimitiveType>(array: &PrimitiveArray<T>, row: usize) -> Option<Number<'static>>
where
    T::Native: Into<i128>,
{
    array.is_valid(row).then(|| Number::Integer(array.value(row).into()))
}

/// Returns a column of numbers of a batch, if it has one of this name.
pub(crate) fn column<'a>(
    batch: &'a RecordBatch,
    name: &'static str,
) -> Result<Option<Column<'a>>, KernelError> {
    bytes::read(batch, name, EXPECTED, Column::of)
}
