//! The rules against what happened on Monero's main network.

use std::{fs, path::Path};

use randomx_monero::{Difficulty, seed_height};
use serde_json::Value;

#[test]
fn every_header_meets_its_network_difficulty() {
    let vectors = read("mainnet-headers.json");
    let blocks = items(&vectors, "blocks");
    assert_eq!(blocks.len(), 8);
    for block in blocks {
        let difficulty: Difficulty = text(block, "difficulty").parse().expect("difficulty");
        assert!(difficulty.is_met_by(&hash(block)), "{block}");
    }
}

#[test]
fn every_share_meets_its_difficulty() {
    let vectors = read("mainnet-shares.json");
    let shares = items(&vectors, "shares");
    assert_eq!(shares.len(), 200);
    for share in shares {
        let difficulty: Difficulty =
            share["share_difficulty"].to_string().parse().expect("share_difficulty");
        assert!(difficulty.is_met_by(&hash(share)), "{share}");
    }
}

#[test]
fn no_share_meets_the_network_difficulty_of_its_epoch() {
    let network: Difficulty = "704249165145".parse().expect("difficulty");
    let vectors = read("mainnet-shares.json");
    for share in items(&vectors, "shares") {
        assert!(!network.is_met_by(&hash(share)), "{share}");
    }
}

#[test]
fn every_height_has_the_seed_height_of_the_chain() {
    let blocks = read("mainnet-blocks.json");
    for block in items(&blocks, "blocks") {
        assert_eq!(seed_height(number(block, "height")), number(block, "seed_height"), "{block}");
    }
    for (file, list) in [("mainnet-headers.json", "blocks"), ("mainnet-shares.json", "shares")] {
        let vectors = read(file);
        for item in items(&vectors, list) {
            assert_eq!(
                seed_height(number(item, "height")),
                number(&vectors, "seed_height"),
                "{item}"
            );
        }
    }
}

fn read(file: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors").join(file);
    let text = fs::read_to_string(&path).expect("the vectors are part of the repository");
    serde_json::from_str(&text).expect("JSON")
}

fn items<'a>(vectors: &'a Value, list: &str) -> &'a [Value] {
    vectors[list].as_array().expect("a list")
}

fn text<'a>(item: &'a Value, field: &str) -> &'a str {
    item[field].as_str().expect("a string")
}

fn number(item: &Value, field: &str) -> u64 {
    item[field].as_u64().expect("an integer")
}

fn hash(item: &Value) -> [u8; 32] {
    let mut hash = [0; 32];
    hex::decode_to_slice(text(item, "pow_hash"), &mut hash).expect("32 bytes of hex");
    hash
}
