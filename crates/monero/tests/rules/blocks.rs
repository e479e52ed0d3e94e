//! Real blocks of every era, compared with another implementation.

use crate::common::{Random, blocks, bytes, hash, items, number, read, text};
use monero::consensus::encode::{self, Encodable};
use monero::cryptonote::hash::Hashable;
use randomx_monero::{
    Block, Candidate, CheckName, HashingBlob, Outcome, RANDOMX_VERSION, Status, examine, tree_hash,
};
use serde_json::Value;

fn parse(block: &Value) -> Block {
    Block::parse(&bytes(block, "block_blob")).expect("a real block")
}

#[test]
fn every_block_has_its_id_and_height() {
    let blocks = blocks();
    assert_eq!(blocks.len(), 13);
    for block in &blocks {
        let parsed = parse(block);
        assert_eq!(hex::encode(parsed.id()), text(block, "id"));
        assert_eq!(parsed.height(), number(block, "height"));
    }
}

#[test]
fn no_block_fails_a_check() {
    let mut before_randomx = 0;
    for block in &blocks() {
        let network = block["network"].as_str().unwrap_or("mainnet").parse().expect("a network");
        let blob = bytes(block, "block_blob");
        let claims = Candidate {
            block: Some(&blob),
            id: Some(hash(block, "id")),
            height: Some(number(block, "height")),
            ..Candidate::default()
        };
        let found = examine(&claims, network);
        let failed: Vec<_> =
            found.checks.iter().filter(|check| check.outcome == Outcome::Failed).collect();
        assert!(failed.is_empty(), "{failed:?}");
        if parse(block).header().major_version >= RANDOMX_VERSION {
            assert_eq!(Status::of(&found.checks), Status::Unproven);
            continue;
        }
        before_randomx += 1;
        assert_eq!(Status::of(&found.checks), Status::UpdateNeeded);
        let outcome =
            |name| found.checks.iter().find(|check| check.name == name).map(|check| check.outcome);
        for name in [CheckName::Vote, CheckName::MinerTransaction] {
            assert_eq!(outcome(name), Some(Outcome::NotChecked), "{name}");
        }
    }
    assert_eq!(before_randomx, 5);
}

#[test]
fn every_block_has_its_hashing_blob_and_header() {
    for block in items(&read("mainnet-blocks.json"), "blocks") {
        let parsed = parse(block);
        assert_eq!(hex::encode(parsed.hashing_blob().as_bytes()), text(block, "hashing_blob"));
        let header = parsed.header();
        assert_eq!(header.previous_id, hash(block, "prev_id"));
        assert_eq!(header.timestamp, number(block, "timestamp"));
        assert_eq!(u64::from(header.nonce), number(block, "nonce"));
        assert_eq!(u64::from(header.major_version), number(block, "major_version"));
        assert_eq!(parsed.transaction_hashes.len() as u64, number(block, "num_txes"));
    }
}

#[test]
fn every_header_has_its_id_and_its_predecessors() {
    let vectors = read("mainnet-headers.json");
    let mut previous = None;
    for block in items(&vectors, "blocks") {
        let blob = HashingBlob::parse(&bytes(block, "hashing_blob"));
        let blob = blob.expect("a real hashing blob");
        assert_eq!(hex::encode(blob.id()), text(block, "id"));
        assert!(previous.is_none_or(|id| id == blob.header.previous_id), "{block}");
        previous = Some(blob.id());
    }
}

#[test]
fn hashing_blobs_are_parsed_back() {
    for block in &blocks() {
        let written = parse(block);
        let written = written.hashing_blob();
        let read = HashingBlob::parse(written.as_bytes());
        assert_eq!(read.as_ref(), Ok(written));
    }
}

#[test]
fn the_vectors_have_both_versions_of_miner_transactions() {
    let versions = |wanted| {
        blocks().iter().filter(|block| parse(block).miner_transaction.version == wanted).count()
    };
    assert_eq!((versions(1), versions(2)), (3, 10));
}

#[test]
fn another_implementation_agrees() {
    for block in &blocks() {
        let theirs: monero::Block =
            encode::deserialize(&bytes(block, "block_blob")).expect("a real block");
        let ours = parse(block);
        assert_eq!(ours.miner_transaction.hash, theirs.miner_tx.hash().to_bytes(), "{block}");
        assert_eq!(ours.miner_transaction.outputs, theirs.miner_tx.prefix().outputs.len());
        let hashes: Vec<_> = theirs.tx_hashes.iter().map(|hash| hash.to_bytes()).collect();
        assert_eq!(ours.transaction_hashes, hashes, "{block}");
        let mut header = Vec::new();
        theirs.header.consensus_encode(&mut header).expect("memory takes it");
        assert!(ours.hashing_blob().as_bytes().starts_with(&header), "{block}");
    }
}

/// Trees of every size up to 600 leaves, against the definition in Monero's sources, which folds a
/// buffer in place.
#[test]
fn trees_of_all_sizes_are_those_of_a_fold_in_place() {
    let mut random = Random(7);
    for count in 1..=600 {
        let leaves: Vec<[u8; 32]> =
            (0..count).map(|_| std::array::from_fn(|_| random.next() as u8)).collect();
        assert_eq!(tree_hash(&leaves), folded(leaves), "{count} leaves");
    }
}

fn folded(mut nodes: Vec<[u8; 32]>) -> [u8; 32] {
    let width = (nodes.len() + 1).next_power_of_two() / 2;
    let join = |nodes: &mut Vec<[u8; 32]>, from: usize| {
        let mut end = from;
        for pair in (from..nodes.len()).step_by(2) {
            let both = [nodes[pair], nodes[pair + 1]].concat();
            nodes[end] = monero::cryptonote::hash::keccak_256(&both);
            end += 1;
        }
        nodes.truncate(end);
    };
    let surplus = nodes.len() - width;
    let alone = nodes.len() - 2 * surplus;
    join(&mut nodes, alone);
    while nodes.len() > 1 {
        join(&mut nodes, 0);
    }
    nodes[0]
}
