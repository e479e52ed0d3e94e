//! `randomx verify --evidence`, with files that a stranger wrote.

use std::fs;

use crate::common::{assert_refused, parse_jsonl, randomx};
use randomx_monero::client::Evidence;
use randomx_monero::{
    Checkpoint, DIFFICULTY_BLOCKS, HashingBlob, LATEST_VERSION, Network, RecentBlock,
    SEED_EPOCH_BLOCKS, Seed,
};
use serde_json::json;
use tempfile::TempDir;

const BEGIN: u64 = 1_600_000_000;

/// Returns evidence with blocks that nobody mined, after a plausible checkpoint of the main network.
fn forged(fixed_difficulty: Option<u128>) -> Evidence {
    let height = 3_800_000;
    let recent = (0..DIFFICULTY_BLOCKS as u64)
        .map(|block| RecentBlock { timestamp: BEGIN + 120 * block, difficulty: 600_000_000_000 });
    let seed = Seed { height: height - height % SEED_EPOCH_BLOCKS, id: [3; 32] };
    let start =
        Checkpoint { height, id: [4; 32], work: 0, recent: recent.collect(), seeds: vec![seed] };
    let mut tip = start.id;
    let blobs = (0..3).map(|_| {
        // A timestamp of five bytes, the block before, a nonce, the tree root and the number of transactions.
        let timestamp = [0x80, 0x80, 0x80, 0x80, 0x06];
        let header = [&[LATEST_VERSION; 2][..], &timestamp, &tip, &[0; 4]].concat();
        let blob = [&header[..], &[0; 32], &[1]].concat();
        tip = HashingBlob::parse(&blob).expect("a blob").id();
        blob
    });
    let sides = vec![blobs.collect()];
    Evidence { network: Network::Mainnet, fixed_difficulty, start, sides }
}

/// Writes a file, and returns its folder and its path.
fn written(bytes: &[u8]) -> (TempDir, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("file");
    fs::write(&file, bytes).expect("writable");
    let file = file.to_str().expect("UTF-8").to_owned();
    (folder, file)
}

#[test]
fn other_files_are_no_evidence() {
    let (_folder, file) = written(b"something else");
    let run = randomx(&["verify", "--evidence", &file]).assert();
    assert_refused(run, &format!("{file}: expected evidence, got other or damaged bytes"));
}

#[test]
fn a_file_does_not_choose_the_difficulty_of_a_public_network() {
    let (_folder, file) = written(&forged(Some(1)).to_bytes());
    let evidence = ["verify", "--evidence", &file, "--threads", "1"];
    let refused = |stated: &[&str], expected| {
        let run = randomx(&[&evidence[..], stated].concat()).assert();
        let problem = format!("fixed difficulty: expected {expected}, got 1");
        assert_refused(run, &format!("{file}: {problem}"));
    };
    refused(&[], "none");
    refused(&["--fixed-difficulty", "2"], "2");
    let run = randomx(&[&evidence[..], &["--fixed-difficulty", "1"]].concat()).assert().code(0);
    let lines = parse_jsonl(&run.get_output().stdout);
    let common = json!({ "height": 3_800_000, "id": "04".repeat(32) });
    let first = json!({
        "network": "mainnet", "fixed_difficulty": "1", "common": common, "difficulty": "1",
    });
    assert_eq!((&lines[0], &lines[1]["valid"]), (&first, &json!(3)));
}

#[test]
fn the_first_line_shows_the_difficulty_that_the_rule_computes() {
    let (_folder, file) = written(&forged(None).to_bytes());
    let run = randomx(&["verify", "--evidence", &file, "--threads", "1"]).assert().code(1);
    let lines = parse_jsonl(&run.get_output().stdout);
    assert_eq!(lines[0]["difficulty"], json!("600000000000"));
    assert_eq!(lines[0].get("fixed_difficulty"), None);
    let failed = lines[1]["refused"]["failed"][0].as_str().expect("a check");
    assert!(failed.starts_with("proof-of-work failed"), "{failed}");
}

#[test]
fn evidence_without_a_fixed_difficulty_is_not_checked_with_one() {
    let (_folder, file) = written(&forged(None).to_bytes());
    let run = randomx(&["verify", "--evidence", &file, "--fixed-difficulty", "1"]).assert();
    let problem = "fixed difficulty: expected 1, got none";
    assert_refused(run, &format!("{file}: {problem}"));
}
