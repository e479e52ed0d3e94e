//! The blocks that a client keeps.

use super::Client;
use super::event::TrustedBlock;
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

    /// Whether a source stated the first difficulties, perhaps too high. No source is then
    /// accused of a hash that meets the [`least_difficulty`](super::least_difficulty) of its block.
    pub fn has_stated_difficulties(&self) -> bool {
        self.tree.stated().is_some()
    }

    /// Returns the height of the first block of the stored state that this release refuses, if there is one. The
    /// client began before it, with the last block whose proof of work was checked.
    pub fn dropped_from(&self) -> Option<u64> {
        self.dropped_from
    }

    /// Returns the block before the oldest of [`Client::kept`].
    pub fn base(&self) -> &Checkpoint {
        self.tree.base()
    }

    /// Returns the height of the oldest block that is kept. Forks before it cannot be followed.
    pub fn base_height(&self) -> u64 {
        self.tree.base().height
    }

    /// Returns the id of the trusted block at a height, if it is kept.
    pub fn block_id(&self, height: u64) -> Option<Hash> {
        if height == self.tree.base().height && self.has_tip() {
            return Some(self.tree.base().id);
        }
        let mut chain = self.tree.chain(&self.trusted);
        chain.find(|(_, entry)| entry.height == height).map(|(id, _)| id)
    }

    /// Returns the trusted blocks from a height on that are kept, the oldest first, without the one
    /// that the client began with.
    pub fn trusted_blocks(&self, from: u64) -> Vec<TrustedBlock> {
        let chain = self.tree.chain(&self.trusted);
        let wanted = chain.take_while(|(_, entry)| entry.height >= from);
        let mut blocks: Vec<TrustedBlock> = wanted
            .map(|(id, entry)| TrustedBlock {
                height: entry.height,
                id,
                difficulty: entry.difficulty,
                work: entry.work,
                hashed: entry.hashed,
            })
            .collect();
        blocks.reverse();
        blocks
    }
}
