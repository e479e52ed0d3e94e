//! Hashes of real transactions, compared with another implementation.

use crate::common::{Random, blocks, bytes};
use monero::Transaction as Other;
use monero::consensus::encode::{self, Encodable};
use monero::cryptonote::hash::Hashable;
use randomx_monero::{Block, Transaction, keccak256};

/// Transaction 5a420317… of the main network: two inputs, two outputs.
const TRANSACTION: &str = include_str!("transaction.hex");
const HASH: &str = "5a420317e377d3d95b652fb93e65cfe97ef7d89e04be329a2ca94e73ec57b74e";

fn real() -> Vec<u8> {
    hex::decode(TRANSACTION.trim()).expect("hex")
}

#[test]
fn a_transaction_has_its_hash_and_fee() {
    let blob = real();
    let transaction = Transaction::parse(&blob).expect("a transaction");
    assert_eq!(hex::encode(transaction.hash()), HASH);
    let other: Other = encode::deserialize(&blob).expect("a transaction");
    assert_eq!(other.hash().to_bytes(), transaction.hash());
    assert_eq!(transaction.outputs, other.prefix.outputs.len());
    let signatures = other.rct_signatures.sig.expect("signatures");
    assert_eq!(transaction.fee, Some(signatures.txn_fee.as_pico()));
    assert!(!transaction.is_pruned());
}

#[test]
fn a_pruned_transaction_keeps_its_hash() {
    let blob = real();
    let whole = Transaction::parse(&blob).expect("a transaction");
    let pruned = Transaction::parse(whole.pruned()).expect("a transaction");
    assert!(pruned.is_pruned());
    assert_eq!(pruned.pruned(), whole.pruned());
    let rest = keccak256(&[&blob[whole.pruned().len()..]]);
    assert_eq!(pruned.pruned_hash(&rest), Some(whole.hash()));
    assert_ne!(pruned.hash(), whole.hash());
}

#[test]
fn miners_transactions_of_every_era_have_their_hashes() {
    let mut versions = [0; 3];
    for block in &blocks() {
        let blob = bytes(block, "block_blob");
        let other: monero::Block = encode::deserialize(&blob).expect("a block");
        let mut miner = Vec::new();
        other.miner_tx.consensus_encode(&mut miner).expect("writable");
        let transaction = Transaction::parse(&miner).expect("a transaction");
        let expected = Block::parse(&blob).expect("a block").miner_transaction;
        assert_eq!(transaction.hash(), expected.hash);
        assert_eq!((transaction.outputs, transaction.fee), (expected.outputs, Some(0)));
        assert_eq!(transaction.pruned(), miner);
        assert!(!transaction.is_pruned(), "there is nothing to prune");
        versions[usize::from(transaction.version)] += 1;
    }
    assert!(versions[1] > 0 && versions[2] > 0, "{versions:?}");
}

#[test]
fn every_byte_changes_the_hash() {
    let blob = real();
    let hash = Transaction::parse(&blob).expect("a transaction").hash();
    for index in 0..blob.len() {
        let mut changed = blob.clone();
        changed[index] ^= 1;
        if let Ok(changed) = Transaction::parse(&changed) {
            assert_ne!(changed.hash(), hash, "byte {index}");
        }
    }
}

#[test]
fn other_bytes_do_not_panic() {
    let blob = real();
    for end in 0..blob.len() {
        if let Ok(cut) = Transaction::parse(&blob[..end]) {
            assert!(cut.pruned().len() <= end);
            assert_ne!(hex::encode(cut.hash()), HASH);
        }
    }
    let mut random = Random(18);
    for _ in 0..20_000 {
        let mut changed = blob.clone();
        for _ in 0..3 {
            let place = random.below(changed.len());
            changed[place] = random.below(256) as u8;
        }
        if let Ok(parsed) = Transaction::parse(&changed) {
            assert!(parsed.size() == changed.len() && parsed.pruned().len() <= changed.len());
        }
    }
}
