//! The sources that have shown a block.

use super::Client;
use super::tree::Tree;
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

impl Tree {
    /// Notes that a source has shown a block, and with it all blocks before: an id stands for them.
    pub(super) fn note_sender(&mut self, id: &Hash, source: usize) {
        let mut next = *id;
        // All blocks before one that it has shown are noted already.
        while let Some(entry) = self.get_mut(&next).filter(|entry| !entry.senders.contains(source))
        {
            entry.senders = entry.senders.with(source);
            next = entry.parent;
        }
    }
}

impl Client {
    /// Sets the newest known block of a source's chain.
    pub(super) fn show(&mut self, source: usize, tip: Hash) {
        self.sources[source].tip = tip;
        self.tree.note_sender(&tip, source);
    }
}
