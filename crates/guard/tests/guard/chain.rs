//! A chain of difficulty 1.

use randomx_monero::{Block, Hash, MAINNET_GENESIS_ID, Transaction};
use randomx_testing::blocks::{block_with, varint};

/// The timestamp of the genesis block.
const START: u64 = 1_700_000_000;

/// The reward of each block, as late on the main network, and the fee of each transaction.
const REWARD: u64 = 600_000_000_000;
pub(crate) const FEE: u64 = 4_000_000;

/// The size of the part of a transaction that nodes may prune.
const PRUNABLE: usize = 100;

/// The genesis block of the main network, which regtest chains begin with too.
const GENESIS: &str = include_str!("genesis.hex");

/// A block with its transactions.
#[derive(Clone)]
pub(crate) struct TestBlock {
    pub(crate) id: Hash,
    pub(crate) blob: Vec<u8>,
    pub(crate) transactions: Vec<Vec<u8>>,
}

impl TestBlock {
    /// The hashes of its transactions, without the miner's.
    pub(crate) fn hashes(&self) -> Vec<Hash> {
        let hash = |blob: &Vec<u8>| Transaction::parse(blob).expect("a transaction").hash();
        self.transactions.iter().map(hash).collect()
    }

    /// The miner's transaction.
    pub(crate) fn miner_transaction(&self) -> &[u8] {
        // Two versions, the timestamp, an id and a nonce.
        let last = self.blob[2..].iter().position(|byte| *byte < 0x80).expect("a timestamp");
        let start = 2 + last + 1 + 32 + 4;
        // The number of hashes, and the hashes.
        &self.blob[start..self.blob.len() - 1 - 32 * self.transactions.len()]
    }

    /// The transaction with this hash in hex, and the size of the part that nodes may prune.
    pub(crate) fn find(&self, hash: &str) -> Option<(&[u8], usize)> {
        let miner = Transaction::parse(self.miner_transaction()).expect("a transaction");
        if hex::encode(miner.hash()) == hash {
            return Some((self.miner_transaction(), 0));
        }
        let index = self.hashes().iter().position(|known| hex::encode(known) == hash)?;
        Some((&self.transactions[index], PRUNABLE))
    }
}

/// A chain with a number of blocks after the genesis block, which differs from others after `common`.
/// Every third block has a transaction.
pub(crate) fn chain(common: u64, blocks: u64) -> Vec<TestBlock> {
    let mut chain = vec![TestBlock {
        id: MAINNET_GENESIS_ID,
        blob: hex::decode(GENESIS.trim()).expect("hex"),
        transactions: Vec::new(),
    }];
    for height in 1..=blocks {
        let side = u8::from(height > common);
        let transactions: Vec<Vec<u8>> =
            (height % 3 == 0).then(|| transaction(height, side)).into_iter().collect();
        let previous = chain.last().expect("a block").id;
        let blob = block(height, &previous, side, &transactions);
        let id = Block::parse(&blob).expect("a block").id();
        chain.push(TestBlock { id, blob, transactions });
    }
    chain
}

fn block(height: u64, previous: &Hash, nonce: u8, transactions: &[Vec<u8>]) -> Vec<u8> {
    let hash = |bytes: &Vec<u8>| Transaction::parse(bytes).expect("a transaction").hash();
    let hashes: Vec<Hash> = transactions.iter().map(hash).collect();
    let reward = REWARD + FEE * hashes.len() as u64;
    block_with(height, START + 120 * height, previous, nonce, reward, &hashes)
}

/// A transaction with an input, two outputs and made-up signatures.
pub(crate) fn transaction(number: u64, side: u8) -> Vec<u8> {
    // Version 2, no unlock time, one input from a key with two ring members.
    let mut blob = vec![2, 0, 1, 2, 0, 2];
    varint(&mut blob, number);
    blob.push(1);
    blob.extend([side; 32]);
    blob.push(2);
    for key in [1, 2] {
        blob.extend([0, 3]);
        blob.extend([key; 33]);
    }
    // No extra. The kind of the signatures, the fee, two amounts, two commitments.
    blob.extend([0, 6]);
    varint(&mut blob, FEE);
    blob.extend([5; 2 * 8]);
    blob.extend([6; 2 * 32]);
    blob.extend([9; PRUNABLE]);
    blob
}
