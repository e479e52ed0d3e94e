//! Blocks of simulated chains.

use std::fs;
use std::path::Path;

/// Appends a number in Monero's format of variable length.
pub fn varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// Changes the vote of the newest block of a stored chain, in a store's folder, to one that the network's rules forbid.
/// `hash` computes the checksum. The state has no refused blocks.
///
/// # Panics
///
/// If the store cannot be read or written, or if its chain ends in no block of version 16.
pub fn break_stored(store: &Path, hash: impl Fn(&[&[u8]]) -> [u8; 32]) {
    let file = store.join("chain");
    let mut state = fs::read(&file).expect("a state");
    state.truncate(state.len() - 32);
    // The number of refused blocks follows the block.
    let end = state.len() - 4;
    let begins = |first: &usize| state[first - 1..first + 2] == [(end - first) as u8, 16, 16];
    let first = (end - 100..end).find(begins).expect("a block of version 16");
    state[first + 1] = 15;
    let checksum = hash(&[&state]);
    state.extend(checksum);
    fs::write(file, state).expect("writable");
}

/// Returns a block of version 16 with only the miner's transaction, which has 1.
pub fn block(height: u64, timestamp: u64, previous: &[u8; 32], nonce: u8) -> Vec<u8> {
    block_with(height, timestamp, previous, nonce, 1, &[])
}

/// Returns a block of version 16 whose miner has a reward, with the hashes of further transactions.
pub fn block_with(
    height: u64,
    timestamp: u64,
    previous: &[u8; 32],
    nonce: u8,
    reward: u64,
    transactions: &[[u8; 32]],
) -> Vec<u8> {
    let mut blob = vec![16, 16];
    varint(&mut blob, timestamp);
    blob.extend(previous);
    blob.extend([nonce; 4]);
    blob.push(2);
    varint(&mut blob, height + 60);
    blob.extend([1, 0xff]);
    varint(&mut blob, height);
    // One output to a tagged key, no extra, no signatures.
    blob.push(1);
    varint(&mut blob, reward);
    blob.push(3);
    blob.extend([7; 33]);
    blob.extend([0, 0]);
    varint(&mut blob, transactions.len() as u64);
    blob.extend(transactions.as_flattened());
    blob
}
