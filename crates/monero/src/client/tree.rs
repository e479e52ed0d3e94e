//! A tree of compact headers over a trusted block.

mod rules;

use std::collections::{HashMap, HashSet};

use super::senders::Senders;
use crate::anchor::Anchor;
use crate::checkpoint::{Checkpoint, RecentBlock, Seed};
use crate::difficulty::Difficulty;
use crate::hash::Hash;
use crate::history::History;
use crate::network::Network;
use crate::retarget::DIFFICULTY_BLOCKS;
use crate::seed::{SEED_EPOCH_BLOCKS, seed_height};

pub(super) use rules::{Refusal, unparsed};

/// A block of the tree.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) height: u64,
    pub(super) parent: Hash,
    pub(super) timestamp: u64,
    pub(super) difficulty: u128,
    /// The chain's work up to this block.
    pub(super) work: u128,
    /// Whether its hash was computed, and meets its difficulty.
    pub(super) hashed: bool,
    /// Whether one hash did not meet its difficulty, which a second hash has yet to confirm or refute.
    pub(super) doubted: bool,
    /// Whether it was in a batch that was accepted, perhaps without being in the sample.
    pub(super) accepted: bool,
    /// The sources that have shown it, also those that have another chain by now.
    pub(super) senders: Senders,
    pub(super) blob: Vec<u8>,
}

/// The blocks that follow the base, on all branches.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    network: Network,
    fixed_difficulty: Option<u128>,
    base: Checkpoint,
    /// Whether works count from the genesis block. If not, they count from where the tree began.
    work_known: bool,
    /// The anchors of the first start, if a source stated the difficulties of the blocks up to the first
    /// one, which all others depend on.
    stated: Option<(Anchor, Anchor)>,
    entries: HashMap<Hash, Entry>,
    /// The history up to the block that was added last, which the next one mostly follows. It
    /// depends on the block's id alone.
    cursor: Option<(Hash, History)>,
}

impl Tree {
    pub(super) fn new(network: Network, fixed_difficulty: Option<u128>, base: Checkpoint) -> Self {
        let work_known = base.work > 0;
        let entries = HashMap::new();
        let (stated, cursor) = (None, None);
        Self { network, fixed_difficulty, base, work_known, stated, entries, cursor }
    }

    /// Notes the anchors of a first start whose difficulties a source stated.
    pub(super) fn with_stated(self, stated: Option<(Anchor, Anchor)>) -> Self {
        Self { stated, ..self }
    }

    /// Counts works from where an earlier tree began, whose work was unknown.
    pub(super) fn with_unknown_work(self) -> Self {
        Self { work_known: false, ..self }
    }

    pub(super) fn work_is_known(&self) -> bool {
        self.work_known
    }

    pub(super) fn stated(&self) -> Option<(Anchor, Anchor)> {
        self.stated
    }

    pub(super) fn base(&self) -> &Checkpoint {
        &self.base
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn get(&self, id: &Hash) -> Option<&Entry> {
        self.entries.get(id)
    }

    pub(super) fn get_mut(&mut self, id: &Hash) -> Option<&mut Entry> {
        self.entries.get_mut(id)
    }

    pub(super) fn contains(&self, id: &Hash) -> bool {
        *id == self.base.id || self.entries.contains_key(id)
    }

    /// Returns the height of a block of the tree; of others, the base's.
    pub(super) fn height(&self, id: &Hash) -> u64 {
        self.get(id).map_or(self.base.height, |entry| entry.height)
    }

    /// Returns the chain's work up to a block of the tree; of others, the base's.
    pub(super) fn work(&self, id: &Hash) -> u128 {
        self.get(id).map_or(self.base.work, |entry| entry.work)
    }

    /// Returns the timestamp of a block of the tree; of others, the base's.
    pub(super) fn timestamp(&self, id: &Hash) -> u64 {
        let base = || self.base.recent.last().map_or(0, |block| block.timestamp);
        self.get(id).map_or_else(base, |entry| entry.timestamp)
    }

    /// Returns a block and those before it, down to the one after the base.
    pub(super) fn chain<'a>(&'a self, tip: &Hash) -> impl Iterator<Item = (Hash, &'a Entry)> {
        let mut next = *tip;
        std::iter::from_fn(move || {
            let entry = self.entries.get(&next)?;
            Some((std::mem::replace(&mut next, entry.parent), entry))
        })
    }

    /// Whether a block is another one or comes after it.
    pub(super) fn descends(&self, id: &Hash, from: &Hash) -> bool {
        let height = self.height(from);
        *from == self.base.id && self.contains(id)
            || self
                .chain(id)
                .take_while(|(_, entry)| entry.height >= height)
                .any(|(id, _)| id == *from)
    }

    /// Returns the last block that two chains share.
    pub(super) fn common(&self, a: &Hash, b: &Hash) -> Hash {
        let (mut a, mut b) = (*a, *b);
        while a != b {
            let (height_a, height_b) = (self.height(&a), self.height(&b));
            let parent = |id: &Hash| self.get(id).map_or(self.base.id, |entry| entry.parent);
            if height_a >= height_b {
                a = parent(&a);
            }
            if height_b >= height_a {
                b = parent(&b);
            }
        }
        a
    }

    /// Returns the blocks up to one, as many as the rules need.
    fn history(&self, id: &Hash) -> History {
        History::new(self.recent(id))
    }

    fn recent(&self, id: &Hash) -> Vec<RecentBlock> {
        let mut recent: Vec<RecentBlock> = self
            .chain(id)
            .take(DIFFICULTY_BLOCKS)
            .map(|(_, entry)| RecentBlock {
                timestamp: entry.timestamp,
                difficulty: entry.difficulty,
            })
            .collect();
        let missing = DIFFICULTY_BLOCKS - recent.len();
        recent.extend(self.base.recent.iter().rev().take(missing));
        recent.reverse();
        recent
    }

    /// Returns the ids of the seed blocks at these ascending heights on a block's chain.
    fn seeds(&self, id: &Hash, heights: &[u64]) -> Vec<Seed> {
        let known = self.base.seeds.iter().copied();
        let mut seeds: Vec<Seed> = known.filter(|seed| heights.contains(&seed.height)).collect();
        let above: Vec<Seed> = self
            .chain(id)
            .take_while(|(_, entry)| heights.first().is_some_and(|&first| entry.height >= first))
            .filter(|(_, entry)| heights.contains(&entry.height))
            .map(|(id, entry)| Seed { height: entry.height, id })
            .collect();
        seeds.extend(above.into_iter().rev());
        seeds
    }

    /// Returns the RandomX keys of blocks of one chain, given from the oldest to the newest.
    pub(super) fn seed_hashes(&self, chain: &[Hash]) -> Vec<Option<Hash>> {
        let Some(last) = chain.last() else { return Vec::new() };
        let mut heights: Vec<u64> = chain.iter().map(|id| seed_height(self.height(id))).collect();
        heights.dedup();
        let seeds = self.seeds(last, &heights);
        let seed = |id| {
            let height = seed_height(self.height(id));
            seeds.iter().find(|seed| seed.height == height).map(|seed| seed.id)
        };
        chain.iter().map(seed).collect()
    }

    /// Returns the chain up to a block as a checkpoint.
    pub(super) fn checkpoint(&self, id: &Hash) -> Checkpoint {
        let checkpoint = self.relative_checkpoint(id);
        let work = if self.work_known { checkpoint.work } else { 0 };
        Checkpoint { work, ..checkpoint }
    }

    /// Returns the same with a work that may count from where the tree began.
    fn relative_checkpoint(&self, id: &Hash) -> Checkpoint {
        let Some(entry) = self.get(id) else { return self.base.clone() };
        let height = entry.height;
        let mut heights = vec![seed_height(height + 1), height - height % SEED_EPOCH_BLOCKS];
        heights.dedup();
        let seeds = self.seeds(id, &heights);
        Checkpoint { height, id: *id, work: entry.work, recent: self.recent(id), seeds }
    }

    /// Returns the difficulty of a block of the tree.
    pub(super) fn difficulty(&self, id: &Hash) -> Option<Difficulty> {
        self.get(id).and_then(|entry| Difficulty::try_from(entry.difficulty).ok())
    }

    /// Removes a block and all that follow it.
    pub(super) fn remove(&mut self, id: &Hash) {
        let removed = self.subtree(id);
        self.entries.retain(|id, _| !removed.contains(id));
    }

    /// Returns the ids of a block and of all that follow it.
    fn subtree(&self, id: &Hash) -> HashSet<Hash> {
        let first = self.height(id);
        let mut later: Vec<(u64, Hash, Hash)> = self
            .entries
            .iter()
            .filter(|(_, entry)| entry.height > first)
            .map(|(id, entry)| (entry.height, *id, entry.parent))
            .collect();
        later.sort_unstable();
        let mut subtree = HashSet::from([*id]);
        for (_, id, parent) in later {
            if subtree.contains(&parent) {
                subtree.insert(id);
            }
        }
        subtree
    }

    /// Gives all blocks the difficulties that follow from others before the base, whose id stays.
    pub(super) fn restate(&mut self, base: Checkpoint) {
        (self.base, self.cursor) = (base, None);
        let mut blocks: Vec<Entry> = self.entries.drain().map(|(_, entry)| entry).collect();
        blocks.sort_unstable_by_key(|entry| entry.height);
        for Entry { parent, blob, difficulty, hashed, doubted, accepted, senders, .. } in blocks {
            // Each block followed the rules before, and difficulties change none of them.
            let id = self.insert(&parent, &blob, u64::MAX);
            if let Some(entry) = id.ok().and_then(|id| self.entries.get_mut(&id)) {
                let is_enough = entry.difficulty <= difficulty;
                (entry.hashed, entry.accepted) = (hashed && is_enough, accepted && is_enough);
                (entry.doubted, entry.senders) = (doubted, senders);
            }
        }
    }

    /// Returns the ids of all blocks of some chains.
    pub(super) fn chains(&self, tips: &[Hash]) -> HashSet<Hash> {
        let mut ids = HashSet::new();
        for tip in tips {
            let chain = self.chain(tip).map(|(id, _)| id);
            // Below a block of another chain, all are there already.
            let new: Vec<Hash> = chain.take_while(|id| !ids.contains(id)).collect();
            ids.extend(new);
        }
        ids
    }

    /// Returns the ids of all blocks that follow one.
    pub(super) fn after(&self, id: &Hash) -> HashSet<Hash> {
        let mut ids = self.subtree(id);
        ids.remove(id);
        ids
    }

    /// Drops all blocks but these.
    pub(super) fn keep(&mut self, ids: &HashSet<Hash>) {
        self.entries.retain(|id, _| ids.contains(id));
    }

    /// Makes a block the base, and drops all but those `after` it.
    pub(super) fn rebase(&mut self, id: &Hash, after: &HashSet<Hash>) {
        self.base = self.relative_checkpoint(id);
        self.keep(after);
    }
}
