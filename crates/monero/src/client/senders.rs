//! The sources that have shown a block.

use super::Client;
use crate::hash::Hash;

/// A set of sources.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Senders(u16);

const _: () = assert!(Client::MAX_SOURCES <= u16::BITS as usize);

impl Senders {
    pub(super) fn contains(self, source: usize) -> bool {
        self.0 & (1 << source) != 0
    }

    pub(super) fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns those that are in no other set.
    pub(super) fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns those for which `keeps` is true.
    pub(super) fn filter(self, mut keeps: impl FnMut(usize) -> bool) -> Self {
        self.iter().filter(|&source| keeps(source)).fold(Self(0), Self::with)
    }

    pub(super) fn iter(self) -> impl Iterator<Item = usize> {
        (0..Client::MAX_SOURCES).filter(move |&source| self.contains(source))
    }

    fn with(self, source: usize) -> Self {
        Self(self.0 | 1 << source)
    }
}

impl Client {
    /// Sets the newest known block of a source's chain. With it, the source has shown all blocks before.
    pub(super) fn show(&mut self, source: usize, tip: Hash) {
        self.sources[source].tip = tip;
        let mut next = tip;
        // All blocks before one that it has shown are noted already.
        while let Some(entry) = self.tree.get_mut(&next)
            && !entry.senders.contains(source)
        {
            entry.senders = entry.senders.with(source);
            next = entry.parent;
        }
    }

    /// Notes with each proof which sources have shown its block, before the tree drops blocks.
    pub(super) fn keep_senders(&mut self) {
        self.each_proof(|tree, proof| {
            let since = tree.get(&proof.id).map_or(proof.senders, |entry| entry.senders);
            proof.senders = proof.senders.union(since);
        });
    }
}
