//! A chain whose first difficulties a source stated, perhaps wrongly.
//!
//! [`anchoring`](super::anchoring) bounds by how much a source can shift the level of all difficulties. If
//! one has shifted it upwards, some honest blocks miss their difficulties by as little. So a hash that
//! misses by no more than this bound accuses nobody, and its block is not refused. The client reads the
//! chain between the anchors once more, from another source if there is one, and on to its own base.
//! Then it gives all of its blocks the difficulties that follow.
//!
//! A liar cannot cause this cheaply: such a hash takes as much work as a block.

use super::Client;
use super::anchoring::Anchoring;
use super::event::Report;
use super::proofs::Proof;
use super::tree::Tree;
use crate::checkpoint::Checkpoint;
use crate::difficulty::Difficulty;
use crate::hash::Hash;

/// The part of a difficulty that may be due to a wrong level: 3.1%, more than 2.9%.
const SHIFT: u128 = 32;

/// The least time between two readings, in seconds. All sources may lie.
const PAUSE: u64 = 3600;

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
        let Some(demanded) = proof.difficulty.as_u128() else { return false };
        let least = Difficulty::try_from(demanded - demanded / SHIFT);
        self.tree.stated().is_some() && least.is_ok_and(|least| least.is_met_by(hash))
    }

    /// Begins to read the chain between the anchors once more, unless that was done a short time ago.
    pub(super) fn read_anew(&mut self) {
        let Some((from, to)) = self.tree.stated() else { return };
        if self.anchoring.is_some() || self.elapsed < self.restate_after {
            return;
        }
        self.restate_after = self.elapsed.saturating_add(PAUSE);
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
        self.sources[source].statements += 1;
        if anchoring.is_anew {
            self.restate(base);
        } else {
            let fixed = self.config.fixed_difficulty;
            let stated = anchoring.stated().filter(|_| fixed.is_none());
            self.trusted = base.id;
            self.sources.iter_mut().for_each(|source| source.tip = base.id);
            self.tree = Tree::new(self.config.network, fixed, base).with_stated(stated);
        }
        for source in &mut self.sources {
            source.claim = None;
            source.due = 0;
        }
        self.store();
        if !anchoring.is_anew {
            self.report(Report::Tip(self.describe(&self.trusted)));
        }
    }

    /// Gives all blocks the difficulties that follow from others before the base.
    fn restate(&mut self, base: Checkpoint) {
        self.tree.restate(base);
        let doubted = self.doubt.as_mut().map(|doubt| &mut doubt.proof);
        for proof in self.late.values_mut().chain(doubted) {
            proof.difficulty = self.tree.difficulty(&proof.id).unwrap_or(proof.difficulty);
        }
        self.retry = 0;
        self.changed = true;
    }
}
