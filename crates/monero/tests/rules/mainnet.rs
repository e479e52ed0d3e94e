//! The rules against what happened on Monero's main network.

use crate::common::{hash, items, number, read, text};
use randomx_monero::{Difficulty, seed_height};

#[test]
fn every_header_meets_its_network_difficulty() {
    let vectors = read("mainnet-headers.json");
    let blocks = items(&vectors, "blocks");
    assert_eq!(blocks.len(), 8);
    for block in blocks {
        let difficulty: Difficulty = text(block, "difficulty").parse().expect("difficulty");
        assert!(difficulty.is_met_by(&hash(block, "pow_hash")), "{block}");
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
        assert!(difficulty.is_met_by(&hash(share, "pow_hash")), "{share}");
    }
}

#[test]
fn no_share_meets_the_network_difficulty_of_its_epoch() {
    let network: Difficulty = "704249165145".parse().expect("difficulty");
    let vectors = read("mainnet-shares.json");
    for share in items(&vectors, "shares") {
        assert!(!network.is_met_by(&hash(share, "pow_hash")), "{share}");
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
