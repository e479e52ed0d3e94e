//! A chain whose first difficulties a source stated, perhaps wrongly.
//!
//! [`anchoring`](super::anchoring) bounds by how much a source can shift the level of all difficulties. If
//! one has shifted it upwards, some honest blocks miss their difficulties by as little. So a hash that
//! misses by no more than this bound accuses nobody, and its block is not refused. Chains with it are left
//! alone until its difficulty is lower. First, all blocks before it that are not in the client's chain are hashed:
//! forged ones could have lowered its difficulty. Then the client reads the chain between the anchors once more, from
//! another source than before if there is one, and on to its own base. Then it gives all of its blocks the
//! difficulties that follow. Meanwhile it follows no source, and does not call its tip the newest. If the
//! new difficulties are higher, hashes may miss them: the client leaves the end of its chain, and reports that.
//!
//! With the right level, such a hash takes the work of about 31 blocks.

use super::Client;
use super::anchoring::Anchoring;
use super::event::{Fork, Report, SourceState};
use super::proofs::Proof;
use super::source::{Source, Wait};
use super::tree::Tree;
use crate::checkpoint::Checkpoint;
use crate::difficulty::Difficulty;
use crate::hash::Hash;
use crate::retarget::DIFFICULTY_BLOCKS;

/// The most near misses that are remembered.
const MISSES: usize = 64;

/// The part of a difficulty that may be due to a wrong level: 3.1%, more than 2.9%.
const SHIFT: u128 = 32;

/// The least time between two readings, in seconds. All sources may lie.
const PAUSE: u64 = 3600;

/// The longest time of a reading, in seconds, unless there are more blocks to read: a source may be slow on
/// purpose, or no source may have the chain.
const LONGEST: u64 = 4 * 3600;

/// Returns the least difficulty that a block may really have where a client computed `own` from difficulties that a
/// source stated, perhaps too high. The client accuses no source of a hash that meets it. `None` above 128 bits.
pub fn least_difficulty(own: Difficulty) -> Option<Difficulty> {
    let own = own.as_u128()?;
    Difficulty::try_from(own - own / SHIFT).ok()
}

/// A block whose hash misses its difficulty narrowly.
#[derive(Clone, Debug)]
pub(super) struct Miss {
    id: Hash,
    difficulty: u128,
    /// Whether the hashes of all blocks between the client's chain and this one meet their difficulties.
    is_proven: bool,
    /// The number of readings since then. No reading has led to a lower difficulty.
    readings: usize,
}

impl Client {
    /// Whether the client has a chain: always, but for a first start.
    pub(super) fn has_tip(&self) -> bool {
        self.anchoring.as_ref().is_none_or(|(anchoring, _)| anchoring.is_anew)
    }

    /// Whether the client reads the chain between the anchors once more, and a source answers.
    pub(super) fn reads_anew(&self) -> bool {
        let reads = |provider: &Option<_>| self.has_tip() && provider.is_some();
        self.anchoring.as_ref().is_some_and(|(_, provider)| reads(provider))
    }

    /// Whether a hash that misses a block's difficulty would meet it if the level were right.
    pub(super) fn may_be_misstated(&self, proof: &Proof, hash: &Hash) -> bool {
        let least = least_difficulty(proof.difficulty);
        self.has_stated_difficulties() && least.is_some_and(|least| least.is_met_by(hash))
    }

    /// Remembers a hash that misses narrowly.
    pub(super) fn note_miss(&mut self, proof: &Proof) {
        let Some(difficulty) = proof.difficulty.as_u128() else { return };
        let is_proven = self.is_proven_before(&proof.id);
        self.misses.push_back(Miss { id: proof.id, difficulty, is_proven, readings: 0 });
        if self.misses.len() > MISSES {
            self.misses.pop_front();
        }
    }

    /// Whether a chain has a block whose hash misses narrowly, and would again.
    pub(super) fn has_miss(&self, tip: &Hash) -> bool {
        self.misses.iter().any(|miss| self.is_held_up_by(miss, tip))
    }

    fn is_held_up_by(&self, Miss { id, difficulty, .. }: &Miss, tip: &Hash) -> bool {
        let would_miss = self.tree.get(id).is_some_and(|entry| entry.difficulty >= *difficulty);
        would_miss && self.tree.descends(tip, id)
    }

    /// Whether all blocks before one that are not in the client's chain have been hashed.
    fn is_proven_before(&self, id: &Hash) -> bool {
        let fork = self.tree.height(&self.tree.common(&self.trusted, id));
        let mut before = self.tree.chain(id).skip(1).take_while(|(_, entry)| entry.height > fork);
        before.all(|(_, entry)| entry.hashed)
    }

    /// Returns the block before a near miss that is not proven yet, and a source that has both in a chain with more work
    /// than the client's. Where another near miss comes before it, the hashes up to that one decide.
    pub(super) fn unproven_miss(&mut self) -> Option<(usize, Hash)> {
        for index in 0..self.misses.len() {
            let miss = &self.misses[index];
            let Some(parent) = self.tree.get(&miss.id).map(|entry| entry.parent) else { continue };
            let shows = |source: &Source| source.counts() && self.waits(miss, &source.tip);
            let source = self.sources.iter().position(shows);
            if let (false, Some(source)) = (miss.is_proven || self.has_miss(&parent), source) {
                if !self.is_proven_before(&miss.id) {
                    return Some((source, parent));
                }
                self.misses[index].is_proven = true;
            }
        }
        None
    }

    /// Begins to read the chain between the anchors once more if a chain with a near miss has more work
    /// than the client's, unless that was done a short time ago, or twice for each source. Ends a reading
    /// that takes too long.
    pub(super) fn correct_level(&mut self) {
        let is_due = self.elapsed >= self.restate_after;
        match &self.anchoring {
            Some((anchoring, _)) if anchoring.is_anew && is_due => self.stop_reading(),
            None if is_due && self.is_held_up() => self.read_anew(),
            _ => {}
        }
    }

    /// Whether a chain with a near miss has more work than the client's.
    fn waits(&self, miss: &Miss, tip: &Hash) -> bool {
        self.tree.work(tip) > self.tree.work(&self.trusted) && self.is_held_up_by(miss, tip)
    }

    fn is_held_up(&self) -> bool {
        let most = 2 * self.sources.len();
        let mut misses = self.misses.iter().filter(|miss| miss.is_proven && miss.readings < most);
        let counted = || self.sources.iter().filter(|source| source.counts());
        misses.any(|miss| counted().any(|source| self.waits(miss, &source.tip)))
    }

    fn stop_reading(&mut self) {
        self.anchoring = None;
        self.note_reading();
        self.ask_tips();
    }

    /// Notes that a reading has ended.
    fn note_reading(&mut self) {
        self.misses.iter_mut().for_each(|miss| miss.readings += 1);
        self.restate_after = self.elapsed.saturating_add(PAUSE);
    }

    /// Asks all sources for their tips after a reading. Until they answer, nothing is known about them.
    fn ask_tips(&mut self) {
        let has_tip = self.has_tip();
        for index in 0..self.sources.len() {
            let source = &mut self.sources[index];
            source.outdate();
            (source.claim, source.due, source.awaited) = (None, 0, Wait::default());
            if has_tip && source.was_read() {
                self.set_state(index, SourceState::Connecting);
            }
        }
    }

    fn read_anew(&mut self) {
        let Some((from, to)) = self.tree.stated() else { return };
        let blocks = self.tree.base().height.saturating_sub(from.height) + DIFFICULTY_BLOCKS as u64;
        self.restate_after = self.elapsed.saturating_add(LONGEST.max(blocks));
        // Its hashes were requested for the present difficulties.
        self.end_batch();
        let base = self.tree.base();
        let anchoring = Anchoring::anew(self.config.network, from, to, (base.height, base.id));
        self.anchoring = Some((anchoring, None));
        for source in &mut self.sources {
            source.outdate();
            source.search = None;
            source.hold.end();
        }
    }

    /// Ends a first start, or what [`Client::read_anew`] began, with what a source has sent.
    pub(super) fn end_anchoring(&mut self, source: usize, base: Checkpoint) {
        let Some((anchoring, _)) = self.anchoring.take() else { return };
        let mut left = None;
        if anchoring.is_anew {
            self.note_reading();
            left = self.restate(base);
        } else {
            self.sources[source].statements += 1;
            let fixed = self.config.fixed_difficulty;
            let stated = anchoring.stated().filter(|_| fixed.is_none());
            self.trusted = base.id;
            self.sources.iter_mut().for_each(|source| source.tip = base.id);
            self.tree = Tree::new(self.config.network, fixed, base).with_stated(stated);
        }
        self.ask_tips();
        self.store();
        let tip = self.describe(&self.trusted);
        if let Some(fork) = left {
            self.report(Report::Reorganised { fork: Box::new(fork), tip });
        } else if !anchoring.is_anew {
            self.report(Report::Tip(tip));
        }
    }

    /// Gives all blocks the difficulties that follow from others before the base. Returns the fork if the
    /// client leaves the end of its chain.
    fn restate(&mut self, base: Checkpoint) -> Option<Fork> {
        self.tree.restate(base);
        self.each_proof(|tree, proof| {
            proof.difficulty = tree.difficulty(&proof.id).unwrap_or(proof.difficulty);
        });
        // The hash of the tip may miss a higher difficulty.
        let proven = self.tree.chain(&self.trusted).find(|(_, entry)| entry.hashed);
        let tip = proven.map_or(self.tree.base().id, |(id, _)| id);
        let fork = self.fork(&tip);
        self.trusted = tip;
        self.retry = 0;
        self.changed = true;
        Some(fork).filter(|fork| !fork.ours.ids.is_empty())
    }
}
