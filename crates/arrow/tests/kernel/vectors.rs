//! Proofs of work in `tests/vectors`, as batches.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, BinaryArray, FixedSizeBinaryArray, RecordBatch, StringArray, UInt64Array,
};
use serde_json::Value;

#[derive(Clone, Debug)]
pub(crate) struct Proof {
    pub(crate) seed_hash: [u8; 32],
    pub(crate) hashing_blob: Vec<u8>,
    pub(crate) difficulty: u64,
    pub(crate) pow_hash: [u8; 32],
}

/// 200 shares of one seed hash.
pub(crate) fn shares() -> Vec<Proof> {
    read("mainnet-shares.json", "shares", "share_difficulty")
}

/// 8 blocks of another seed hash.
pub(crate) fn headers() -> Vec<Proof> {
    read("mainnet-headers.json", "blocks", "difficulty")
}

fn read(file: &str, list: &str, difficulty: &str) -> Vec<Proof> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors").join(file);
    let json: Value = serde_json::from_slice(&fs::read(path).expect("a file")).expect("JSON");
    let bytes = |value: &Value| hex::decode(value.as_str().expect("text")).expect("hex");
    let proof = |entry: &Value| Proof {
        seed_hash: bytes(&json["seed_hash"]).try_into().expect("32 bytes"),
        hashing_blob: bytes(&entry["hashing_blob"]),
        difficulty: number(&entry[difficulty]),
        pow_hash: bytes(&entry["pow_hash"]).try_into().expect("32 bytes"),
    };
    json[list].as_array().expect("a list").iter().map(proof).collect()
}

fn number(json: &Value) -> u64 {
    let digits = json.as_str().map(|digits| digits.parse().expect("digits"));
    digits.or(json.as_u64()).expect("a difficulty")
}

/// A batch with the types that `randomx-audit` writes.
pub(crate) fn batch(proofs: &[Proof]) -> RecordBatch {
    let seeds = proofs.iter().map(|proof| Some(proof.seed_hash));
    let seeds = FixedSizeBinaryArray::try_from_sparse_iter_with_size(seeds, 32);
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("seed_hash", Arc::new(seeds.expect("hashes"))),
        (
            "hashing_blob",
            Arc::new(BinaryArray::from_iter_values(proofs.iter().map(|proof| &proof.hashing_blob))),
        ),
        (
            "difficulty",
            Arc::new(UInt64Array::from_iter_values(proofs.iter().map(|proof| proof.difficulty))),
        ),
    ];
    RecordBatch::try_from_iter(columns).expect("a batch")
}

/// A column of hexadecimal digits.
pub(crate) fn hex_column(values: impl Iterator<Item = Vec<u8>>) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(values.map(hex::encode)))
}

/// The columns `valid` and `reason` of a result.
pub(crate) fn verdicts(result: &RecordBatch) -> Vec<(Option<bool>, Option<String>)> {
    let valid = result["valid"].as_boolean();
    let reasons = result["reason"].as_string::<i32>();
    let reason = |row| reasons.is_valid(row).then(|| reasons.value(row).to_owned());
    (0..result.num_rows())
        .map(|row| (valid.is_valid(row).then(|| valid.value(row)), reason(row)))
        .collect()
}
