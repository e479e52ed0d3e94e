//! The types that a column may have.

use std::sync::Arc;

use arrow_array::types::{Int8Type, Int32Type};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BinaryViewArray, Decimal32Array, Decimal64Array, Decimal128Array,
    Decimal256Array, DictionaryArray, FixedSizeBinaryArray, Int8Array, Int64Array,
    LargeBinaryArray, LargeStringArray, RecordBatch, StringArray, StringViewArray, UInt64Array,
};
use arrow_buffer::i256;

use crate::kernel;
use crate::vectors::{Proof, batch, headers, verdicts};

/// The same bytes in each type, with a null at the end.
fn columns(values: &[Vec<u8>]) -> Vec<ArrayRef> {
    let bytes = || values.iter().map(|value| Some(value.as_slice())).chain([None]);
    let hex = || values.iter().map(|value| Some(hex::encode(value))).chain([None]);
    let upper = || values.iter().map(|value| Some(hex::encode_upper(value))).chain([None]);
    let dictionary: DictionaryArray<Int8Type> =
        hex().collect::<Vec<_>>().iter().map(Option::as_deref).collect();
    vec![
        Arc::new(BinaryArray::from_iter(bytes())),
        Arc::new(LargeBinaryArray::from_iter(bytes())),
        Arc::new(BinaryViewArray::from_iter(bytes())),
        Arc::new(StringArray::from_iter(hex())),
        Arc::new(LargeStringArray::from_iter(upper())),
        Arc::new(StringViewArray::from_iter(hex())),
        Arc::new(dictionary),
    ]
}

fn difficulties(proofs: &[Proof]) -> Vec<ArrayRef> {
    let numbers = || proofs.iter().map(|proof| Some(proof.difficulty)).chain([None]);
    let narrow = Decimal64Array::from_iter(numbers().map(|n| n.map(|n| n as i64)));
    let wide = Decimal128Array::from_iter(numbers().map(|n| n.map(i128::from)));
    let wider = Decimal256Array::from_iter(numbers().map(|n| n.map(|n| i256::from_i128(n.into()))));
    let digits = || numbers().map(|n| n.map(|n| n.to_string()));
    let dictionary: DictionaryArray<Int32Type> =
        digits().collect::<Vec<_>>().iter().map(Option::as_deref).collect();
    vec![
        Arc::new(UInt64Array::from_iter(numbers())),
        Arc::new(Int64Array::from_iter(numbers().map(|n| n.map(|n| n as i64)))),
        Arc::new(narrow.with_precision_and_scale(18, 0).expect("a decimal")),
        Arc::new(wide.with_precision_and_scale(38, 0).expect("a decimal")),
        Arc::new(wider.with_precision_and_scale(76, 0).expect("a decimal")),
        Arc::new(StringArray::from_iter(digits())),
        Arc::new(LargeStringArray::from_iter(digits())),
        Arc::new(StringViewArray::from_iter(digits())),
        Arc::new(dictionary),
    ]
}

fn with(seed: &ArrayRef, blob: &ArrayRef, difficulty: &ArrayRef) -> RecordBatch {
    let columns = [("seed_hash", seed), ("hashing_blob", blob), ("difficulty", difficulty)];
    let columns = columns.map(|(name, array)| (name, Arc::clone(array)));
    RecordBatch::try_from_iter(columns).expect("a batch")
}

#[test]
fn every_type_gives_the_same_result() {
    let proofs = &headers()[..2];
    let mut kernel = kernel();
    let expected = kernel.verify(&batch(proofs)).expect("a result");
    let fixed = |array: FixedSizeBinaryArray| Arc::new(array) as ArrayRef;
    let seeds = proofs.iter().map(|proof| Some(proof.seed_hash)).chain([None]);
    let seeds = FixedSizeBinaryArray::try_from_sparse_iter_with_size(seeds, 32).expect("hashes");
    let mut seeds = vec![fixed(seeds)];
    seeds.extend(columns(&proofs.iter().map(|proof| proof.seed_hash.to_vec()).collect::<Vec<_>>()));
    let blobs = columns(&proofs.iter().map(|proof| proof.hashing_blob.clone()).collect::<Vec<_>>());
    let difficulties = difficulties(proofs);
    let (seed, blob, difficulty) = (&seeds[0], &blobs[0], &difficulties[0]);
    let mut batches = Vec::new();
    batches.extend(seeds.iter().map(|seed| with(seed, blob, difficulty)));
    batches.extend(blobs.iter().map(|blob| with(seed, blob, difficulty)));
    batches.extend(difficulties.iter().map(|difficulty| with(seed, blob, difficulty)));
    for input in batches {
        let result = kernel.verify(&input).expect("a result");
        let types = input.schema();
        assert_eq!(&result["pow_hash"].slice(0, 2), &expected["pow_hash"], "{types}");
        assert_eq!(verdicts(&result)[..2], verdicts(&expected), "{types}");
        assert_eq!(verdicts(&result)[2].0, Some(false), "{types}");
        assert!(result["pow_hash"].is_null(2), "{types}");
    }
}

#[test]
fn the_greatest_difficulties_fit() {
    let proof = &headers()[0];
    let greatest = "115792089237316195423570985008687907853269984665640564039457584007913129639935";
    let wide = i256::from_string(&"9".repeat(76)).expect("a number");
    let mut kernel = kernel();
    let wide = Decimal256Array::from(vec![wide]).with_precision_and_scale(76, 0);
    let narrow = Decimal128Array::from(vec![10_i128.pow(37)]).with_precision_and_scale(38, 0);
    let cases: [(ArrayRef, String); 4] = [
        (Arc::new(StringArray::from(vec![greatest])), greatest.to_owned()),
        (Arc::new(wide.expect("a decimal")), "9".repeat(76)),
        (Arc::new(narrow.expect("a decimal")), 10_u128.pow(37).to_string()),
        (Arc::new(UInt64Array::from(vec![u64::MAX])), u64::MAX.to_string()),
    ];
    for (difficulty, named) in cases {
        let input = batch(std::slice::from_ref(proof));
        let input = with(&input["seed_hash"], &input["hashing_blob"], &difficulty);
        let result = kernel.verify(&input).expect("a result");
        let reason = format!("the hash does not meet difficulty {named}");
        assert_eq!(verdicts(&result), [(Some(false), Some(reason))]);
    }
    let decimal = Decimal32Array::from(vec![1]).with_precision_and_scale(9, 0);
    let small: [ArrayRef; 2] =
        [Arc::new(Int8Array::from(vec![1])), Arc::new(decimal.expect("a decimal"))];
    for small in small {
        let input = batch(std::slice::from_ref(proof));
        let input = with(&input["seed_hash"], &input["hashing_blob"], &small);
        assert_eq!(verdicts(&kernel.verify(&input).expect("a result")), [(Some(true), None)]);
    }
}
