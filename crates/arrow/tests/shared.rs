//! Rows that share one long text. This process has no other test: its memory is measured.

#![cfg(target_os = "linux")]

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BinaryArray, DictionaryArray, Int32Array, RecordBatch, StringViewArray, UInt64Array,
};
use randomx::{Cache, Version, Vm};
use randomx_arrow::{Kernel, Settings};

/// Decoded at once, the long texts of so many rows take 40 MiB.
const ROWS: usize = 45;

/// The memory for hashing on two threads.
const HASHING: usize = (256 + 2 * 16) << 20;

/// The decoded texts of a part of the batch.
const DECODED: usize = 16 << 20;

/// The rest of the process.
const REST: usize = 20 << 20;

#[test]
fn rows_that_share_a_text_are_decoded_in_parts() {
    let blobs = [vec![7; 1 << 20], vec![11; 76]];
    let keys = [[1; 32], [2; 32]];
    let blob_of = |row: usize| usize::from(row % 10 == 3);
    let key_of = |row: usize| usize::from(row % 20 == 7);
    let hashes = keys.map(|key| {
        let cache = Arc::new(Cache::new(&key).expect("a cache"));
        let mut vm = Vm::new(cache, Version::V1).expect("a VM");
        [0, 1].map(|blob| vm.hash(&blobs[blob]))
    });
    let texts = Arc::new(StringViewArray::from_iter_values(blobs.map(hex::encode)));
    let places = Int32Array::from_iter_values((0..ROWS).map(|row| blob_of(row) as i32));
    let seeds = BinaryArray::from_iter_values((0..ROWS).map(|row| keys[key_of(row)]));
    let columns: [(&str, ArrayRef); 3] = [
        ("seed_hash", Arc::new(seeds)),
        ("hashing_blob", Arc::new(DictionaryArray::<Int32Type>::new(places, texts))),
        ("difficulty", Arc::new(UInt64Array::from(vec![1; ROWS]))),
    ];
    let batch = RecordBatch::try_from_iter(columns).expect("a batch");
    let result = Kernel::new(Settings::new(2)).verify(&batch).expect("a result");
    let found = result["pow_hash"].as_fixed_size_binary();
    for row in 0..ROWS {
        assert_eq!(found.value(row), hashes[key_of(row)][blob_of(row)], "row {row}");
    }
    assert_eq!(result["valid"].as_boolean().true_count(), ROWS);
    let most = HASHING + DECODED + REST;
    assert!(peak() < most, "{} of {} MiB", peak() >> 20, most >> 20);
}

/// The most memory that this process had so far.
fn peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux has it");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a peak");
    peak.trim().trim_end_matches(" kB").parse::<usize>().expect("a number") << 10
}
