//! The difficulty rule against the data that Monero tests its own with.

use crate::common::{items, read};
use randomx_monero::{DIFFICULTY_BLOCKS, PastBlock, next_difficulty};

#[test]
fn every_difficulty_is_the_one_that_monero_computes() {
    let vectors = read("monero/difficulty.json");
    let target = vectors["target"].as_u64().expect("seconds");
    let rows = items(&vectors, "rows");
    assert_eq!(rows.len(), 1000);
    let mut past: Vec<PastBlock> = Vec::new();
    let mut cumulative_difficulty = 0;
    for (index, row) in rows.iter().enumerate() {
        let timestamp = row[0].as_u64().expect("seconds");
        let difficulty: u128 = row[1].as_str().and_then(|text| text.parse().ok()).expect("digits");
        let window = &past[past.len().saturating_sub(DIFFICULTY_BLOCKS)..];
        assert_eq!(next_difficulty(window, target), Some(difficulty), "row {index}");
        cumulative_difficulty += difficulty;
        past.push(PastBlock { timestamp, cumulative_difficulty });
    }
}
