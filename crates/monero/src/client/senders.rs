//! The sources that have shown a block.

use std::collections::HashSet;

use super::Client;
use crate::hash::Hash;

/// The most dropped blocks that can accuse their sources. For each, the 735 blocks before it are kept, in 24 KB.
const MAX_DROPPED: usize = 64;

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

    /// Notes with each proof which sources have shown its block and the chain before it, before the tree drops all
    /// blocks but these. Of a block for which there is no more room, the sources are forgotten: an accusation has
    /// evidence.
    pub(super) fn keep_accusations(&mut self, kept: &HashSet<Hash>) {
        let mut room = MAX_DROPPED;
        self.each_proof(|_, proof| room = room.saturating_sub(usize::from(proof.past.is_some())));
        self.each_proof(|tree, proof| {
            let Some(entry) = tree.get(&proof.id) else { return };
            proof.senders = proof.senders.union(entry.senders);
            if kept.contains(&proof.id) {
                return;
            }
            if proof.past.is_none() && room == 0 {
                proof.senders = Senders::default();
                return;
            }
            room -= usize::from(proof.past.is_none());
            proof.past = Some(Box::new(tree.checkpoint(&entry.parent)));
        });
    }
}
