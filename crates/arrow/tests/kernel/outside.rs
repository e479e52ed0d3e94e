//! Values whose keys, offsets or views point out of their columns: so arrays come from C's interface.

use std::sync::Arc;

use arrow_array::types::{Int8Type, UInt64Type};
use arrow_array::{
    ArrayRef, BinaryArray, BinaryViewArray, DictionaryArray, Int8Array, Int64Array,
    LargeBinaryArray, RecordBatch, StringArray, UInt64Array,
};
use arrow_buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use randomx_arrow::{Kernel, read};

use crate::kernel;
use crate::vectors::{shares, verdicts};

const OUTSIDE: &str = "expected a value inside the column's data, got one outside";

/// Verifies a good share twice, with two rows of a column instead of its own: the first one has a verdict.
fn check(kernel: &mut Kernel, name: &'static str, column: ArrayRef) {
    let share = &shares()[0];
    let mut columns: Vec<(&str, ArrayRef)> = vec![
        ("seed_hash", Arc::new(BinaryArray::from_iter_values([share.seed_hash; 2]))),
        ("hashing_blob", Arc::new(BinaryArray::from_iter_values([&share.hashing_blob; 2]))),
        ("difficulty", Arc::new(Int64Array::from(vec![1; 2]))),
        ("version", Arc::new(Int64Array::from(vec![1; 2]))),
    ];
    columns.retain(|(other, _)| *other != name);
    columns.push((name, column));
    let batch = RecordBatch::try_from_iter(columns).expect("a batch");
    let result = kernel.verify(&batch).expect("a result");
    let reason = Some(format!("{name}: {OUTSIDE}"));
    assert_eq!(verdicts(&result), [(Some(true), None), (Some(false), reason)]);
    assert!(read::text(&batch, name, 0).is_some());
    assert_eq!(read::text(&batch, name, 1), None);
}

#[test]
fn keys_outside_a_dictionary_are_reasons() {
    let kernel = &mut kernel();
    let share = &shares()[0];
    let seeds = || Arc::new(BinaryArray::from_iter_values([share.seed_hash])) as ArrayRef;
    let ones: ArrayRef = Arc::new(StringArray::from(vec!["1"]));
    for key in [1, i8::MAX, -1, i8::MIN] {
        let keyed = |values: &ArrayRef| -> ArrayRef {
            let keys = Int8Array::from_iter_values([0, key]);
            #[expect(unsafe_code, reason = "makes a key that is outside")]
            // SAFETY: only the kernel reads the keys, and checks them.
            let array =
                unsafe { DictionaryArray::<Int8Type>::new_unchecked(keys, Arc::clone(values)) };
            Arc::new(array)
        };
        check(kernel, "seed_hash", keyed(&seeds()));
        check(kernel, "difficulty", keyed(&ones));
        check(kernel, "version", keyed(&ones));
        check(kernel, "version", keyed(&(Arc::new(Int64Array::from(vec![1])) as ArrayRef)));
    }
    let keys = UInt64Array::from_iter_values([0, u64::MAX]);
    #[expect(unsafe_code, reason = "makes a key that is outside")]
    // SAFETY: as above.
    let array = unsafe { DictionaryArray::<UInt64Type>::new_unchecked(keys, seeds()) };
    check(kernel, "seed_hash", Arc::new(array));
}

#[test]
fn offsets_outside_a_column_are_reasons() {
    let kernel = &mut kernel();
    let blob = &shares()[0].hashing_blob;
    let end = blob.len() as i32;
    let bytes = || Buffer::from(blob.as_slice());
    for last in [end + 1, i32::MAX, 0, -1, i32::MIN] {
        let offsets = ScalarBuffer::from(vec![0, end, last]);
        #[expect(unsafe_code, reason = "makes offsets that are outside")]
        // SAFETY: only the kernel reads the offsets, and checks them.
        let array = unsafe {
            BinaryArray::new_unchecked(OffsetBuffer::new_unchecked(offsets), bytes(), None)
        };
        check(kernel, "hashing_blob", Arc::new(array));
        let last = if last == i32::MAX { i64::MAX } else { last.into() };
        let offsets = ScalarBuffer::from(vec![0, end.into(), last]);
        #[expect(unsafe_code, reason = "makes offsets that are outside")]
        // SAFETY: as above.
        let array = unsafe {
            LargeBinaryArray::new_unchecked(OffsetBuffer::new_unchecked(offsets), bytes(), None)
        };
        check(kernel, "hashing_blob", Arc::new(array));
    }
}

#[test]
fn views_outside_their_buffers_are_reasons() {
    let kernel = &mut kernel();
    let blob = &shares()[0].hashing_blob;
    let view = |length: usize, buffer: u32, start: u32| {
        (length as u128) | u128::from(buffer) << 64 | u128::from(start) << 96
    };
    let length = blob.len();
    for outside in [
        view(length, 1, 0),
        view(length, u32::MAX, 0),
        view(length, 0, 1),
        view(length, 0, u32::MAX),
        view(u32::MAX as usize, 0, 0),
        view(13, 0, length as u32 - 12),
    ] {
        let views = ScalarBuffer::from(vec![view(length, 0, 0), outside]);
        let buffers = vec![Buffer::from(blob.as_slice())];
        #[expect(unsafe_code, reason = "makes a view that is outside")]
        // SAFETY: only the kernel reads the views, and checks them.
        let array = unsafe { BinaryViewArray::new_unchecked(views, buffers, None) };
        check(kernel, "hashing_blob", Arc::new(array));
    }
}
