//! Block blobs, as nodes store and send them.

use crate::hash::Hash;
use crate::header::{BlockHeader, HashingBlob};
use crate::miner_transaction::MinerTransaction;
use crate::reader::{BlockError, Reader};
use crate::tree_hash::tree_hash;

/// A block: its header, its miner transaction and the hashes of its other transactions.
///
/// ```
/// use randomx_monero::Block;
///
/// let error = Block::parse(&[16, 16]).unwrap_err();
/// assert_eq!(error.to_string(), "timestamp at byte 2: the input ends before the end of this field");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The transaction that pays the miner. It contains the block's height.
    pub miner_transaction: MinerTransaction,
    /// The hashes of the other transactions.
    pub transaction_hashes: Vec<Hash>,
    hashing_blob: HashingBlob,
}

impl Block {
    /// Parses a block blob, in time and memory proportional to its length.
    ///
    /// # Errors
    ///
    /// If the bytes are not exactly one block.
    pub fn parse(blob: &[u8]) -> Result<Self, BlockError> {
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
        let hashing_blob = HashingBlob::new(header, header_bytes, root, leaves.len() as u64);
        Ok(Self { miner_transaction, transaction_hashes: leaves.split_off(1), hashing_blob })
    }

    /// Returns the block's header.
    pub fn header(&self) -> &BlockHeader {
        &self.hashing_blob.header
    }

    /// Returns the height in the miner transaction.
    pub fn height(&self) -> u64 {
        self.miner_transaction.height
    }

    /// Returns the bytes that RandomX hashes.
    pub fn hashing_blob(&self) -> &HashingBlob {
        &self.hashing_blob
    }

    /// Returns the block's id, which the next block contains.
    pub fn id(&self) -> Hash {
        self.hashing_blob.id()
    }

    /// Returns the hashes of all transactions, the miner's first.
    pub fn transaction_ids(&self) -> Vec<Hash> {
        let mut ids = Vec::with_capacity(1 + self.transaction_hashes.len());
        ids.push(self.miner_transaction.hash);
        ids.extend_from_slice(&self.transaction_hashes);
        ids
    }
}
