//! The places of values in the memory of their columns. Sources such as the Arrow C data interface do not check them,
//! and arrow's own functions read wherever they point.

use arrow_array::cast::AsArray;
use arrow_array::types::ByteArrayType;
use arrow_array::{
    Array, BinaryViewArray, GenericByteArray, OffsetSizeTrait, downcast_integer_array,
};

/// The reason of a value that is outside.
pub(crate) const OUTSIDE: &str = "expected a value inside the column's data, got one outside";

/// The longest value that a view contains itself.
const MOST_IN_VIEW: usize = 12;

/// The place of a row's value in a dictionary.
#[derive(Clone, Copy)]
pub(crate) enum Place {
    Null,
    Value(usize),
    Outside,
}

impl Place {
    fn of(key: Option<i128>, values: usize) -> Place {
        let Some(key) = key else { return Place::Null };
        let position = usize::try_from(key).ok().filter(|&position| position < values);
        position.map_or(Place::Outside, Place::Value)
    }
}

/// Returns the place of each row's value in a dictionary, and the values.
pub(crate) fn dictionary(array: &dyn Array) -> Option<(Vec<Place>, &dyn Array)> {
    let dictionary = array.as_any_dictionary_opt()?;
    let (keys, values) = (dictionary.keys(), dictionary.values());
    let place = |key: Option<i128>| Place::of(key, values.len());
    let places = downcast_integer_array! {
        keys => keys.iter().map(|key| place(key.map(i128::from))).collect(),
        _ => return None,
    };
    Some((places, values.as_ref()))
}

/// Whether a row's value is inside the bytes of an array. An array from the C data interface, also one of a slice, has
/// its last offset as the length of its bytes: this trusts that offset.
pub(crate) fn is_inside<T, O>(array: &GenericByteArray<T>, row: usize) -> bool
where
    T: ByteArrayType<Offset = O>,
    O: OffsetSizeTrait,
{
    let offset = |index: usize| array.value_offsets().get(index)?.to_usize();
    let is_inside = |(start, end)| start <= end && is_within(end, array.values().len());
    offset(row).zip(offset(row + 1)).is_some_and(is_inside)
}

/// Whether the bytes of a row's view are in the view or inside the array's buffers.
pub(crate) fn has_view_inside(array: &BinaryViewArray, row: usize) -> bool {
    let Some(view) = array.views().get(row) else { return false };
    let word = |index: u32| (view >> (32 * index)) as u32 as usize;
    let (length, buffer, start) = (word(0), word(2), word(3));
    let buffer = || array.data_buffers().get(buffer);
    length <= MOST_IN_VIEW
        || start
            .checked_add(length)
            .zip(buffer())
            .is_some_and(|(end, bytes)| is_within(end, bytes.len()))
}

/// Whether a place is inside a buffer. A negative length in the C data interface becomes one that no memory has.
fn is_within(end: usize, length: usize) -> bool {
    end <= length && isize::try_from(length).is_ok()
}
