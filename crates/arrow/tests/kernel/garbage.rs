//! Nulls and malformed values.

use std::sync::Arc;

use arrow_array::types::Int8Type;
use arrow_array::{
    ArrayRef, BinaryArray, BinaryViewArray, DictionaryArray, Int8Array, Int64Array,
    LargeBinaryArray, LargeStringArray, NullArray, RecordBatch, StringArray,
};
use randomx_arrow::read;

use crate::kernel;
use crate::vectors::{shares, verdicts};

/// A row of text, and the reason that it gets.
type Case<'a> = ([Option<&'a str>; 3], &'a str);

#[test]
fn each_malformed_value_is_a_reason_of_its_row() {
    let share = &shares()[0];
    let (seed, blob) = (hex::encode(share.seed_hash), hex::encode(&share.hashing_blob));
    let (seed, blob) = (Some(seed.as_str()), Some(blob.as_str()));
    let long = "0".repeat(2 * ((1 << 20) + 1));
    let cases: &[Case<'_>] = &[
        ([None, blob, Some("1")], "seed_hash: expected 32 bytes, got null"),
        ([Some(""), blob, Some("1")], "seed_hash: expected 32 bytes, got 0"),
        ([Some("00"), blob, Some("1")], "seed_hash: expected 32 bytes, got 1"),
        (
            [Some("0x"), blob, Some("1")],
            "seed_hash: expected an even number of hexadecimal digits, got \"0x\"",
        ),
        ([seed, None, Some("1")], "hashing_blob: expected bytes, got null"),
        (
            [seed, Some("é"), Some("1")],
            "hashing_blob: expected an even number of hexadecimal digits, got \"é\"",
        ),
        (
            [seed, Some(&long), Some("1")],
            "hashing_blob: expected at most 1048576 bytes, got 1048577",
        ),
        ([seed, blob, None], "difficulty: expected a value, got null"),
        ([seed, blob, Some("0")], "difficulty: expected at least 1, got 0"),
        ([seed, blob, Some("")], "difficulty: expected decimal digits, got nothing"),
        (
            [seed, blob, Some("-1")],
            "difficulty: expected only decimal digits (no sign, fraction or exponent)",
        ),
        ([None, None, None], "hashing_blob: expected bytes, got null"),
    ];
    let column = |index: usize| -> ArrayRef {
        Arc::new(StringArray::from_iter(cases.iter().map(|(row, _)| row[index])))
    };
    let columns =
        [("seed_hash", column(0)), ("hashing_blob", column(1)), ("difficulty", column(2))];
    let input = RecordBatch::try_from_iter(columns).expect("a batch");
    let result = kernel().verify(&input).expect("a result");
    for ((_, reason), verdict) in cases.iter().zip(verdicts(&result)) {
        assert_eq!(verdict, (Some(false), Some((*reason).to_owned())));
    }
}

/// A value in each type of text, unchecked: so texts come from C's interface and from readers of files.
#[expect(unsafe_code, reason = "makes texts that are no UTF-8")]
fn unchecked(value: &[u8]) -> [ArrayRef; 4] {
    let (offsets, bytes, nulls) = BinaryArray::from_iter_values([value]).into_parts();
    // SAFETY: the offsets are those of an array, and the kernel, which is tested here, reads no text as `str`.
    let text = unsafe { StringArray::new_unchecked(offsets, bytes, nulls) };
    let (offsets, bytes, nulls) = LargeBinaryArray::from_iter_values([value]).into_parts();
    // SAFETY: as above.
    let large = unsafe { LargeStringArray::new_unchecked(offsets, bytes, nulls) };
    let view = BinaryViewArray::from_iter_values([value]);
    // SAFETY: as above.
    let view = unsafe { view.to_string_view_unchecked() };
    let keys = Int8Array::from_iter_values([0]);
    let dictionary = DictionaryArray::<Int8Type>::new(keys, Arc::new(text.clone()));
    [Arc::new(text), Arc::new(large), Arc::new(view), Arc::new(dictionary)]
}

#[test]
fn texts_that_are_no_utf_8_are_reasons() {
    let share = &shares()[0];
    let bytes = |value: &[u8]| Arc::new(BinaryArray::from_iter_values([value])) as ArrayRef;
    let digits = "expected an even number of hexadecimal digits, got";
    // The last byte is the first of a character of four.
    let value = b"12\xff\xf0";
    let long = [&[0xf0; 400][..], b"x"].concat();
    for (text, long) in unchecked(value).into_iter().zip(unchecked(&long)) {
        let mut columns = [
            ("seed_hash", bytes(&share.seed_hash)),
            ("hashing_blob", bytes(&share.hashing_blob)),
            ("difficulty", Arc::new(Int64Array::from(vec![1]))),
            ("target", bytes(&[0xff; 8])),
            ("version", Arc::new(Int64Array::from(vec![1]))),
        ];
        let cases = [
            format!("seed_hash: {digits} \"12\u{fffd}\u{fffd}\""),
            format!("hashing_blob: {digits} \"12\u{fffd}\u{fffd}\""),
            "difficulty: expected only decimal digits (no sign, fraction or exponent)".to_owned(),
            format!("target: {digits} \"12\u{fffd}\u{fffd}\""),
            "version: expected 1 or 2, got \"\u{fffd}\"".to_owned(),
        ];
        for (index, reason) in cases.into_iter().enumerate() {
            let (name, good) = columns[index].clone();
            columns[index].1 = Arc::clone(&text);
            let batch = RecordBatch::try_from_iter(columns.clone()).expect("a batch");
            let result = kernel().verify(&batch).expect("a result");
            assert_eq!(verdicts(&result), [(Some(false), Some(reason))], "{}", text.data_type());
            assert_eq!(read::text(&batch, name, 0).as_deref(), Some("12\u{fffd}\u{fffd}"));
            columns[index] = (name, good);
        }
        columns[0].1 = long;
        let batch = RecordBatch::try_from_iter(columns).expect("a batch");
        let result = kernel().verify(&batch).expect("a result");
        let reason = format!("seed_hash: {digits} \"{}…\"", "\u{fffd}".repeat(80));
        assert_eq!(verdicts(&result), [(Some(false), Some(reason))]);
    }
}

#[test]
fn long_seed_hashes_and_targets_are_refused_before_they_are_decoded() {
    let share = &shares()[0];
    let bytes = |value: &[u8]| Arc::new(BinaryArray::from_iter_values([value])) as ArrayRef;
    let columns = [
        ("seed_hash", bytes(&share.seed_hash)),
        ("hashing_blob", bytes(&share.hashing_blob)),
        ("target", bytes(&[0xff; 8])),
    ];
    // Decoded, they would not be hexadecimal digits.
    let long: ArrayRef = Arc::new(StringArray::from(vec!["x".repeat(66)]));
    for (index, reason) in [
        (0, "seed_hash: expected 32 bytes, got 33"),
        (2, "target: expected 4, 8 or 32 bytes, got 33"),
    ] {
        let mut columns = columns.clone();
        columns[index].1 = Arc::clone(&long);
        let batch = RecordBatch::try_from_iter(columns).expect("a batch");
        let result = kernel().verify(&batch).expect("a result");
        assert_eq!(verdicts(&result), [(Some(false), Some(reason.to_owned()))]);
    }
}

#[test]
fn numbers_below_one_are_reasons() {
    let share = &shares()[0];
    let numbers = vec![Some(0), Some(-1), Some(i64::MIN), None];
    let rows = numbers.len();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("seed_hash", Arc::new(BinaryArray::from_iter_values(vec![share.seed_hash; rows]))),
        ("hashing_blob", Arc::new(BinaryArray::from_iter_values(vec![&share.hashing_blob; rows]))),
        ("difficulty", Arc::new(Int64Array::from(numbers))),
    ];
    let input = RecordBatch::try_from_iter(columns).expect("a batch");
    let result = kernel().verify(&input).expect("a result");
    let reasons: Vec<_> = verdicts(&result).into_iter().filter_map(|verdict| verdict.1).collect();
    assert_eq!(
        reasons,
        [
            "difficulty: expected at least 1, got 0",
            "difficulty: expected at least 1, got -1",
            "difficulty: expected at least 1, got -9223372036854775808",
            "difficulty: expected a value, got null",
        ]
    );
}

#[test]
fn texts_of_numbers_have_digits_only() {
    let share = &shares()[0];
    let texts = ["1", "+1", " 1", "1.0", "-0"];
    let texts = || Arc::new(StringArray::from_iter_values(texts)) as ArrayRef;
    let columns: [(&str, ArrayRef); 5] = [
        ("seed_hash", Arc::new(BinaryArray::from_iter_values([share.seed_hash; 5]))),
        ("hashing_blob", Arc::new(BinaryArray::from_iter_values([&share.hashing_blob; 5]))),
        ("difficulty", Arc::new(Int64Array::from(vec![1; 5]))),
        ("version", texts()),
        ("height", texts()),
    ];
    let input = RecordBatch::try_from_iter(columns).expect("a batch");
    assert_eq!(read::heights(&input).expect("heights"), [Some(1), None, None, None, None]);
    let found = verdicts(&kernel().verify(&input).expect("a result"));
    assert_eq!(found[0], (Some(true), None));
    for (text, verdict) in ["+1", " 1", "1.0", "-0"].into_iter().zip(&found[1..]) {
        let reason = format!("version: expected 1 or 2, got {text:?}");
        assert_eq!(*verdict, (Some(false), Some(reason)));
    }
}

#[test]
fn columns_of_nulls_are_reasons() {
    let nulls = || Arc::new(NullArray::new(3)) as ArrayRef;
    let names = ["seed_hash", "hashing_blob", "difficulty", "target", "version"];
    let input = RecordBatch::try_from_iter(names.map(|name| (name, nulls()))).expect("a batch");
    let result = kernel().verify(&input).expect("a result");
    let reason = "hashing_blob: expected bytes, got null".to_owned();
    assert_eq!(verdicts(&result), vec![(Some(false), Some(reason)); 3]);
}

#[test]
fn a_blob_of_any_bytes_is_hashed() {
    let share = &shares()[0];
    let blobs: Vec<Vec<u8>> = vec![vec![], vec![0xff; 3], vec![7; 1 << 20], vec![11; 76]];
    let rows = blobs.len();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("seed_hash", Arc::new(BinaryArray::from_iter_values(vec![share.seed_hash; rows]))),
        ("hashing_blob", Arc::new(BinaryArray::from_iter_values(&blobs))),
        ("difficulty", Arc::new(Int64Array::from(vec![1; rows]))),
    ];
    let input = RecordBatch::try_from_iter(columns).expect("a batch");
    let result = kernel().verify(&input).expect("a result");
    assert_eq!(verdicts(&result), vec![(Some(true), None); rows]);
}
