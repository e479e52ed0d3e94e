//! Blocks, hashing blobs and their parts, compared with the crate `monero`.

use monero::blockdata::transaction::TxIn;
use monero::consensus::encode::{self, VarInt};
use monero::cryptonote::hash::Hashable;
use monero::util::ringct::RctType;
use randomx_monero::{Block, Candidate, HashingBlob, Network, Problem, Status, examine, tree_hash};

use crate::input::Input;
use crate::{Target, vectors};

pub(super) const BLOCKS: Target =
    Target { name: "blocks", longest: 4096, quick: 4000, run: blocks, seeds: block_seeds };

pub(super) const MINER_TRANSACTIONS: Target = Target {
    name: "miner_transactions",
    longest: 2048,
    quick: 4000,
    run: miner_transactions,
    seeds: miner_transaction_seeds,
};

pub(super) const VARINTS: Target =
    Target { name: "varints", longest: 24, quick: 20_000, run: varints, seeds: varint_seeds };

pub(super) const TREES: Target =
    Target { name: "trees", longest: 32 * 300, quick: 500, run: trees, seeds: tree_seeds };

/// A header's bytes: version 16, timestamp 0.
const HEADER: [u8; 39] = {
    let mut header = [0; 39];
    header[0] = 16;
    header[1] = 16;
    header
};

fn blocks(data: &[u8]) -> bool {
    let (blob, block) = (HashingBlob::parse(data), Block::parse(data));
    if let Ok(blob) = &blob {
        assert_eq!(blob.as_bytes(), data, "a hashing blob keeps its bytes");
        assert!(data.len() <= HashingBlob::MAX_BYTES);
    }
    if let Ok(block) = &block {
        compare(block, data);
        judge(block, data);
    }
    blob.is_ok() || block.is_ok()
}

fn block_seeds() -> Vec<Vec<u8>> {
    let mut seeds = vectors::blocks(BLOCKS.longest);
    seeds.extend(vectors::hashing_blobs());
    seeds
}

/// Compares a parsed block with the other implementation's.
fn compare(ours: &Block, data: &[u8]) {
    let theirs: monero::Block = match encode::deserialize(data) {
        Ok(theirs) => theirs,
        Err(error) => panic!("another implementation refuses the block: {error}"),
    };
    assert_eq!(encode::serialize(&theirs), data, "a block has one encoding");
    assert_eq!(ours.hashing_blob().as_bytes(), theirs.serialize_hashable());
    assert_eq!(ours.id(), theirs.id().to_bytes());
    let transaction = &theirs.miner_tx;
    assert_eq!(ours.miner_transaction.hash, transaction.hash().to_bytes());
    let amounts = transaction.prefix.outputs.iter().map(|output| u128::from(*output.amount));
    let sum: u128 = amounts.sum();
    assert_eq!(ours.miner_transaction.sum, u64::try_from(sum).ok(), "the sum of the outputs");
    assert_eq!(ours.miner_transaction.outputs, transaction.prefix.outputs.len());
    let hashes: Vec<[u8; 32]> = theirs.tx_hashes.iter().map(|hash| hash.to_bytes()).collect();
    assert_eq!(ours.transaction_hashes, hashes);
    let header = ours.header();
    assert_eq!(u64::from(header.major_version), *theirs.header.major_version);
    assert_eq!(header.timestamp, *theirs.header.timestamp);
    assert_eq!(header.previous_id, theirs.header.prev_id.to_bytes());
    let parsed = HashingBlob::parse(ours.hashing_blob().as_bytes());
    assert_eq!(parsed.as_ref(), Ok(ours.hashing_blob()), "a hashing blob is parsed back");
}

/// Examines a block with true and false claims about it.
fn judge(block: &Block, data: &[u8]) {
    let blob = block.hashing_blob().as_bytes();
    for network in Network::ALL {
        let whole = Candidate {
            block: Some(data),
            hashing_blob: Some(blob),
            id: Some(block.id()),
            height: Some(block.height()),
        };
        let claimed = examine(&whole, network);
        assert_eq!(claimed.id, Some(block.id()));
        assert_eq!(claimed.height, Some(block.height()));
        assert_eq!(claimed.transaction_ids, block.transaction_ids());
        let found = examine(&Candidate { block: Some(data), ..Candidate::default() }, network);
        assert_eq!(Status::of(&found.checks), Status::of(&claimed.checks), "true claims");
        let mut other = block.id();
        other[0] ^= 1;
        let wrong = examine(&Candidate { id: Some(other), ..whole }, network);
        assert!(!matches!(Status::of(&wrong.checks), Status::Valid | Status::Unproven));
    }
}

fn miner_transactions(data: &[u8]) -> bool {
    let whole = [&HEADER[..], data, &[0]].concat();
    match Block::parse(&whole) {
        Ok(block) => {
            compare(&block, &whole);
            true
        }
        Err(error) => {
            let Ok(theirs) = encode::deserialize::<monero::Block>(&whole) else { return false };
            // The other implementation accepts more: other versions, inputs and proofs.
            let prefix = &theirs.miner_tx.prefix;
            let proof = theirs.miner_tx.rct_signatures.sig.as_ref().map(|sig| sig.rct_type);
            let usual = matches!(*prefix.version, 1 | 2)
                && matches!(prefix.inputs[..], [TxIn::Gen { .. }])
                && proof.is_none_or(|kind| kind == RctType::Null)
                && encode::serialize(&theirs) == whole;
            assert!(!usual, "another implementation accepts the transaction: {error}");
            false
        }
    }
}

fn miner_transaction_seeds() -> Vec<Vec<u8>> {
    let transaction = |blob: &Vec<u8>| {
        let block: monero::Block = encode::deserialize(blob).expect("a real block");
        encode::serialize(&block.miner_tx)
    };
    let seeds = vectors::blocks(usize::MAX);
    let seeds = seeds.iter().map(transaction);
    seeds.filter(|seed| seed.len() <= MINER_TRANSACTIONS.longest).collect()
}

/// The end of a hashing blob is a number of 64 bits and at least 1, and its start one of 8 bits.
fn varints(data: &[u8]) -> bool {
    let blob = [&HEADER[..], &[7; 32], data].concat();
    let found = HashingBlob::parse(&blob).map(|blob| blob.transactions);
    let is_accepted = found.is_ok();
    match decode(data, 64) {
        Some((0, _)) => {
            let none = Problem::Unexpected { expected: "at least 1", got: 0 };
            assert_eq!(found.map_err(|error| error.problem), Err(none));
        }
        Some((number, length)) if length == data.len() => {
            assert_eq!(found, Ok(number));
            assert_eq!(encode::serialize(&VarInt(number)), data);
        }
        Some((_, length)) => {
            let surplus = Problem::Surplus { bytes: data.len() - length };
            assert_eq!(found.map_err(|error| error.problem), Err(surplus));
        }
        None => assert!(found.is_err(), "{found:?}"),
    }
    let blob = [data, &HEADER[1..], &[7; 32], &[1]].concat();
    let found = HashingBlob::parse(&blob).map(|blob| blob.header.major_version);
    match decode(&blob, 8) {
        // More bytes than the number has move the rest of the blob.
        Some((number, length)) if length == data.len() => assert_eq!(found, Ok(number as u8)),
        Some(_) => {}
        None => assert!(found.is_err(), "{found:?}"),
    }
    is_accepted
}

/// The greatest number of each bit length that has one group less than the next.
fn varint_seeds() -> Vec<Vec<u8>> {
    let number = |bits: u32| encode::serialize(&VarInt(u64::MAX >> (64 - bits)));
    [1, 7, 8, 14, 63, 64].map(number).to_vec()
}

/// Decodes the number at the start in wide arithmetic. Returns it and its length, or `None` if it has
/// more bits, ends early or is not in its shortest form.
fn decode(data: &[u8], bits: u32) -> Option<(u64, usize)> {
    let length = 1 + data.iter().position(|byte| byte & 0x80 == 0)?;
    let groups = data.get(..length).filter(|groups| groups.len() <= 10)?;
    let number = groups.iter().rev().fold(0_u128, |sum, byte| sum << 7 | u128::from(byte & 0x7f));
    let shortest = length == 1 || data[length - 1] != 0;
    (shortest && number >> bits == 0).then_some((number as u64, length))
}

fn tree_seeds() -> Vec<Vec<u8>> {
    (1..=20).map(|count| (0..32 * count).map(|index| (index / 7) as u8).collect()).collect()
}

fn trees(data: &[u8]) -> bool {
    let mut input = Input::new(data);
    let mut leaves: Vec<[u8; 32]> = Vec::new();
    while !input.is_empty() {
        leaves.push(input.array());
    }
    let Some((first, rest)) = leaves.split_first() else { return false };
    let rest: Vec<monero::Hash> = rest.iter().map(|hash| monero::Hash::from(*hash)).collect();
    let theirs = monero::cryptonote::hash::tree_hash(monero::Hash::from(*first), &rest);
    assert_eq!(tree_hash(&leaves), theirs.to_bytes());
    true
}
