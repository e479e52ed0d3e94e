//! Blocks of the test vectors, for seeds.

use std::fs;
use std::path::Path;

use serde_json::Value;

/// Returns a file of `tests/vectors`.
pub(crate) fn read(file: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors").join(file);
    let text = fs::read_to_string(&path).expect("the vectors are part of the repository");
    serde_json::from_str(&text).expect("JSON")
}

/// Returns the blobs of all blocks of at most `longest` bytes.
pub(crate) fn blocks(longest: usize) -> Vec<Vec<u8>> {
    let files = ["monero/blocks.json", "mainnet-blocks.json"];
    let blobs = files.iter().flat_map(|file| bytes(&read(file), "block_blob"));
    blobs.filter(|blob| blob.len() <= longest).collect()
}

/// Returns the hashing blobs of consecutive blocks of the main network.
pub(crate) fn hashing_blobs() -> Vec<Vec<u8>> {
    bytes(&read("mainnet-headers.json"), "hashing_blob")
}

fn bytes(vectors: &Value, field: &str) -> Vec<Vec<u8>> {
    let blocks = vectors["blocks"].as_array().expect("a list");
    let hex = |block: &Value| hex::decode(block[field].as_str().expect("a string")).expect("hex");
    blocks.iter().map(hex).collect()
}
