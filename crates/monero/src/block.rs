//! Whole blocks, as a node stores and sends them.

use crate::hash::Hash;
use crate::header::{BlockHeader, HashingBlob, Layout};
use crate::miner_transaction::MinerTransaction;
use crate::reader::{BlockError, Reader};
use crate::tree_hash::tree_hash;

/// A block: its header, the miner's transaction and the hashes of all others.
///
/// ```
/// use randomx_monero::{Block, Layout};
///
/// let error = Block::parse(&[16, 16], Layout::default()).unwrap_err();
/// assert_eq!(error.to_string(), "timestamp at byte 2: the bytes end before it does");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The transaction that pays the miner; its height is the block's.
    pub miner_transaction: MinerTransaction,
    /// The hashes of the other transactions.
    pub transaction_hashes: Vec<Hash>,
    hashing_blob: HashingBlob,
}

impl Block {
    /// Reads a block blob. Memory is proportional to its length, and so is time.
    ///
    /// # Errors
    ///
    /// When the bytes are not exactly one block.
    pub fn parse(blob: &[u8], layout: Layout) -> Result<Self, BlockError> {
        let mut reader = Reader::new(blob);
        let header = BlockHeader::read(&mut reader)?;
        let header_bytes = reader.since(0);
        let miner_transaction = MinerTransaction::read(&mut reader)?;
        let count = reader.count("transaction hashes", size_of::<Hash>())?;
        let mut leaves = Vec::with_capacity(1 + count);
        leaves.push(miner_transaction.hash);
        for _ in 0..count {
            leaves.push(reader.hash("transaction hashes")?);
        }
        reader.end("end of the block")?;
        let root = tree_hash(&leaves);
        let transactions = leaves.len() as u64;
        let hashing_blob = HashingBlob::new(header, header_bytes, root, transactions, layout);
        Ok(Self { miner_transaction, transaction_hashes: leaves.split_off(1), hashing_blob })
    }

    /// What the block begins with.
    pub fn header(&self) -> &BlockHeader {
        &self.hashing_blob.header
    }

    /// The height that the miner transaction says.
    pub fn height(&self) -> u64 {
        self.miner_transaction.height
    }

    /// What RandomX hashes.
    pub fn hashing_blob(&self) -> &HashingBlob {
        &self.hashing_blob
    }

    /// The block's id, by which the next block names it.
    pub fn id(&self) -> Hash {
        self.hashing_blob.id()
    }
}
