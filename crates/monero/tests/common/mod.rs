//! The vectors, as tests want them.

#![allow(dead_code, reason = "each test file uses its own part")]

use std::{fs, path::Path};

use randomx_monero::Hash;
use serde_json::Value;

/// A file of `tests/vectors`.
pub fn read(file: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors").join(file);
    let text = fs::read_to_string(&path).expect("the vectors are part of the repository");
    serde_json::from_str(&text).expect("JSON")
}

/// A list of a file.
pub fn items<'a>(vectors: &'a Value, list: &str) -> &'a [Value] {
    vectors[list].as_array().expect("a list")
}

/// A string.
pub fn text<'a>(item: &'a Value, field: &str) -> &'a str {
    item[field].as_str().expect("a string")
}

/// An integer.
pub fn number(item: &Value, field: &str) -> u64 {
    item[field].as_u64().expect("an integer")
}

/// Bytes.
pub fn bytes(item: &Value, field: &str) -> Vec<u8> {
    hex::decode(text(item, field)).expect("hex")
}

/// A hash.
pub fn hash(item: &Value, field: &str) -> Hash {
    bytes(item, field).try_into().expect("32 bytes")
}

/// Every real block that the vectors hold, of all eras.
pub fn blocks() -> Vec<Value> {
    let mut blocks = items(&read("monero/blocks.json"), "blocks").to_vec();
    blocks.extend_from_slice(items(&read("mainnet-blocks.json"), "blocks"));
    blocks
}

/// Random numbers that are the same in every run (xorshift64*).
pub struct Random(pub u64);

impl Random {
    /// The next one.
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// One below a limit.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }
}
