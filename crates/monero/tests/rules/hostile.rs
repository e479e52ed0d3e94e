//! Hostile bytes in place of blocks.

use std::time::{Duration, Instant};

use crate::common::{Random, blocks, bytes, items, made_chain, read};
use randomx_monero::{
    Block, Candidate, Chain, Checkpoint, HashingBlob, Link, MAINNET_GENESIS_ID, Network, Status,
};

/// A chain with a difficulty that no chain has goes on as long as its checkpoint is accepted.
#[test]
fn a_chain_ends_before_its_work_is_out_of_range() {
    /// Twice this is one more than the most that a chain can have.
    const HALF: u128 = 1 << 126;
    let genesis = Checkpoint::genesis(Network::Regtest);
    let chain = Chain::resume(genesis, Network::Regtest).expect("a checkpoint");
    let mut chain = chain.with_fixed_difficulty(HALF);
    for (block, status) in made_chain(2).iter().zip([Status::Valid, Status::Invalid]) {
        let candidate = Candidate { block: Some(&block.blob), ..Candidate::default() };
        let link = Link { block: candidate, ..Link::default() };
        chain.push(&link, u64::MAX).expect("the chain takes a block");
        let verdict = chain.settle(Some([0; 32])).expect("a block waits");
        assert_eq!((verdict.status, verdict.work), (status, HALF + 1));
        let checkpoint = chain.checkpoint().expect("a start");
        assert_eq!(checkpoint.check(Network::Regtest), Ok(()));
    }
}

/// 10,000 blobs, random or mutated from real ones.
#[test]
fn no_blob_makes_the_parser_panic_hang_or_take_memory() {
    let originals: Vec<Vec<u8>> = blocks().iter().map(|block| bytes(block, "block_blob")).collect();
    let mut random = Random(0x5eed);
    let started = Instant::now();
    let mut parsed = 0;
    for round in 0..10_000 {
        let blob = match round % 5 {
            0 => noise(&mut random),
            _ => mutated(&originals, &mut random),
        };
        let _ = HashingBlob::parse(&blob);
        if let Ok(block) = Block::parse(&blob) {
            parsed += 1;
            assert!(32 * block.transaction_hashes.capacity() <= blob.len() + 32);
            assert!(block.hashing_blob().as_bytes().len() <= blob.len() + 32);
        }
    }
    // Some mutations change only a hash, a nonce or an amount: a block with another id.
    assert!((500..7500).contains(&parsed), "{parsed} of 10,000 parsed");
    assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
}

#[test]
fn no_single_byte_of_a_block_or_header_can_change_unnoticed() {
    let mut random = Random(0xbad);
    let mut corruptions = 0;
    for block in &blocks() {
        let blob = bytes(block, "block_blob");
        let id = Block::parse(&blob).expect("a real block").id();
        for _ in 0..200 {
            let found = Block::parse(&corrupted(&blob, &mut random));
            assert!(found.is_err() || found.is_ok_and(|block| block.id() != id), "{block}");
            corruptions += 1;
        }
    }
    for header in items(&read("mainnet-headers.json"), "blocks") {
        let blob = bytes(header, "hashing_blob");
        let id = HashingBlob::parse(&blob).expect("a real blob").id();
        for _ in 0..200 {
            let found = HashingBlob::parse(&corrupted(&blob, &mut random));
            assert!(found.is_err() || found.is_ok_and(|blob| blob.id() != id), "{header}");
            corruptions += 1;
        }
    }
    assert!(corruptions >= 4000);
}

#[test]
fn every_beginning_of_a_block_is_refused() {
    for block in &blocks() {
        let blob = bytes(block, "block_blob");
        for end in (0..blob.len()).step_by(1 + blob.len() / 500) {
            assert!(Block::parse(&blob[..end]).is_err(), "{end} bytes");
        }
        let longer = [&blob[..], &[0]].concat();
        assert!(Block::parse(&longer).is_err(), "one byte more");
    }
}

/// Blobs with a count at any offset that exceeds all memory.
#[test]
fn huge_counts_are_refused_at_once() {
    let blob = bytes(&blocks()[5], "block_blob");
    let mut huge = vec![0xff; 9];
    huge.push(1);
    for at in 0..blob.len() {
        let changed = [&blob[..at], &huge, &blob[at + 1..]].concat();
        let _ = Block::parse(&changed);
    }
}

/// 10,000 mutations of the next block of a chain, with right and wrong claims about it.
#[test]
fn no_blob_makes_a_chain_panic_or_loses_it() {
    let blocks = made_chain(70);
    let mut before = Chain::resume(Checkpoint::genesis(Network::Regtest), Network::Regtest)
        .expect("a checkpoint");
    for block in &blocks[..69] {
        let link = Link { block: whole(&block.blob), ..Link::default() };
        before.push(&link, u64::MAX).expect("the chain takes a block");
        assert_eq!(before.settle(Some([0; 32])).expect("a block waits").status, Status::Valid);
    }
    let start = Checkpoint::genesis(Network::Regtest);
    let kept = before.checkpoint().expect("a block was settled");
    let originals: Vec<Vec<u8>> = blocks[60..].iter().map(|block| block.blob.clone()).collect();
    let mut random = Random(0xc4a1);
    let mut valid = 0;
    for _ in 0..10_000 {
        let blob = mutated(&originals, &mut random);
        let link = Link {
            block: Candidate {
                height: [None, Some(70), Some(u64::MAX)][random.below(3)],
                hashing_blob: [None, Some(&blob[..])][random.below(2)],
                ..whole(&blob)
            },
            seed_hash: [None, Some(MAINNET_GENESIS_ID), Some([1; 32])][random.below(3)],
            difficulty: None,
        };
        let mut chain = before.clone();
        chain.push(&link, [0, u64::MAX][random.below(2)]).expect("the chain knows every value");
        let verdict = chain.settle([None, Some([0; 32]), Some([0xff; 32])][random.below(3)]);
        let checkpoint = chain.checkpoint().expect("there was one before");
        match verdict.expect("a block waits").status {
            Status::Valid => {
                valid += 1;
                assert_eq!(checkpoint.height, 70);
            }
            Status::Unproven => assert_eq!(checkpoint, kept),
            Status::Invalid | Status::UpdateNeeded => assert_eq!(checkpoint, start),
        }
    }
    assert!((1..5000).contains(&valid), "{valid} of 10,000 valid");
}

fn whole(blob: &[u8]) -> Candidate<'_> {
    Candidate { block: Some(blob), ..Candidate::default() }
}

fn corrupted(blob: &[u8], random: &mut Random) -> Vec<u8> {
    let mut changed = blob.to_vec();
    changed[random.below(blob.len())] ^= 1 + random.below(255) as u8;
    changed
}

fn noise(random: &mut Random) -> Vec<u8> {
    let length = random.below(2000);
    (0..length).map(|_| random.next() as u8).collect()
}

/// A real block with bytes changed, removed, inserted, repeated, or the rest of another one.
fn mutated(originals: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let mut blob = originals[random.below(originals.len())].clone();
    for _ in 0..=random.below(3) {
        let at = random.below(blob.len().max(1));
        match random.below(6) {
            0 => blob.truncate(at),
            1 => blob.insert(at, random.next() as u8),
            2 => drop(blob.drain(at..(at + random.below(40)).min(blob.len()))),
            3 => blob.extend_from_within(at.min(blob.len())..),
            4 => {
                let other = &originals[random.below(originals.len())];
                blob.truncate(at);
                blob.extend_from_slice(&other[at.min(other.len())..]);
            }
            _ if blob.is_empty() => {}
            _ => blob[at] = random.next() as u8,
        }
    }
    blob
}
