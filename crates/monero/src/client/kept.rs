//! The blocks that a client keeps.

use super::Client;
use super::tree::Entry;
use crate::checkpoint::Checkpoint;
use crate::hash::Hash;

/// A trusted block with its hashing blob.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeptBlock<'a> {
    /// Its height.
    pub height: u64,
    /// Its id.
    pub id: Hash,
    /// Its difficulty.
    pub difficulty: u128,
    /// The chain's work up to it.
    pub work: u128,
    /// Its hashing blob.
    pub blob: &'a [u8],
}

impl Client {
    /// Returns the trusted blocks after [`Client::base`], the newest first.
    pub fn kept(&self) -> impl Iterator<Item = KeptBlock<'_>> {
        self.tree.chain(&self.trusted).map(|(id, entry)| {
            let Entry { height, difficulty, work, ref blob, .. } = *entry;
            KeptBlock { height, id, difficulty, work, blob }
        })
    }

    /// Returns the block before the oldest of [`Client::kept`].
    pub fn base(&self) -> &Checkpoint {
        self.tree.base()
    }
}
