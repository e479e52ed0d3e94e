//! Where the sources' chains differ from the client's.

use super::event::{Branch, Fork, JobId, Report, SourceId, SourceState};
use super::evidence::Evidence;
use super::growth::STALE;
use super::hold::Hold;
use super::proofs::Proof;
use super::source::Source;
use super::{Client, Config};
use crate::checkpoint::Checkpoint;
use crate::hash::Hash;

/// The most forks of each source that are remembered, so that they are reported once. A source can show sides in turn.
const MAX_REPORTED: usize = 64;

impl Client {
    /// Drops what no chain needs any more.
    pub(super) fn prune(&mut self) {
        let sources = self.sources.iter().filter(|source| source.counts());
        let mut tips: Vec<Hash> = sources.map(|source| source.tip).collect();
        tips.push(self.trusted);
        tips.extend(self.batch.as_ref().map(|batch| batch.tip));
        // No batch is in work then.
        tips.extend(self.doubt.as_ref().map(|doubt| doubt.proof.id));
        let kept = self.tree.chains(&tips);
        self.keep_accusations(&kept);
        self.tree.keep(&kept);
    }

    /// Compares a source's chain with the client's, and reports what changed.
    pub(super) fn compare(&mut self, index: usize) {
        let source = &self.sources[index];
        let tip = source.tip;
        let read = source.claim.is_some_and(|claim| claim <= self.tree.height(&tip));
        if !source.counts() || source.search.is_some() {
            return;
        }
        if !read {
            if self.has_long_side(index) {
                self.sources[index].is_read = true;
                self.set_state(index, SourceState::Behind);
            }
            return;
        }
        self.sources[index].note_read();
        self.sources[index].is_read = true;
        let fork = self.fork(&tip);
        let behind = fork.theirs.ids.is_empty() && fork.ours.ids.len() as u64 >= Self::BEHIND;
        let state = if behind { SourceState::Behind } else { SourceState::Following };
        let is_recent = self.clock.saturating_sub(self.tree.timestamp(&self.trusted)) <= STALE;
        if is_recent && !behind && fork.theirs.ids.is_empty() {
            self.sources[index].hold = Hold::default();
        }
        self.set_state(index, state);
        let differs = !fork.ours.ids.is_empty() && !fork.theirs.ids.is_empty();
        if differs && !self.sources[index].reported.contains(&fork.id) {
            self.report_side(index, fork);
        }
    }

    /// Reports a fork once the newest block of the source's side has been hashed. Without that, a source could forge
    /// sides without end.
    fn report_side(&mut self, index: usize, fork: Fork) {
        let tip = self.sources[index].tip;
        if self.tree.get(&tip).is_none_or(|entry| entry.hashed) {
            let reported = &mut self.sources[index].reported;
            if reported.len() == MAX_REPORTED {
                reported.pop_front();
            }
            reported.push_back(fork.id);
            let blobs = |branch: &Branch| -> Vec<Vec<u8>> {
                let entries = branch.ids.iter().filter_map(|id| self.tree.get(id));
                entries.map(|entry| entry.blob.clone()).collect()
            };
            let sides = vec![blobs(&fork.ours), blobs(&fork.theirs)];
            let evidence = Box::new(self.evidence(self.tree.checkpoint(&fork.id), sides));
            let (source, fork) = (SourceId(index as u32), Box::new(fork));
            self.report(Report::Disagreement { source, fork, evidence });
        } else if !self.is_better(&tip) {
            // Batches check a side with more work.
            self.hash_side(index);
        }
    }

    /// Requests the hash of the newest block of a source's side.
    fn hash_side(&mut self, index: usize) {
        let tip = self.sources[index].tip;
        let in_work = |source: &Source| source.side.as_ref().is_some_and(|side| side.1.id == tip);
        let is_in_work = self.sources[index].side.is_some() || self.sources.iter().any(in_work);
        let waits = self.doubt.is_some() || self.clock < self.retry || self.has_miss(&tip);
        if !is_in_work && !waits {
            let seed_hash = self.tree.seed_hashes(&[tip]).pop().flatten();
            self.sources[index].side = self.request_proof(&tip, seed_hash);
        }
    }

    /// Takes the hash of a side out of work.
    pub(super) fn take_side(&mut self, job: JobId) -> Option<Proof> {
        let mut sides = self.sources.iter_mut().map(|source| &mut source.side);
        let (_, proof) = sides.find_map(|side| side.take_if(|(of, _)| *of == job))?;
        self.changed = true;
        Some(proof)
    }

    /// Whether a source's side is read as far as the client reads one that has not more work than its chain.
    pub(super) fn has_long_side(&self, index: usize) -> bool {
        let tip = self.sources[index].tip;
        let lighter = self.tree.work(&tip) <= self.tree.work(&self.trusted);
        lighter && self.room(index) == 0 && !self.tree.descends(&self.trusted, &tip)
    }

    /// Returns where another chain leaves the client's.
    pub(super) fn fork(&self, tip: &Hash) -> Fork {
        let id = self.tree.common(&self.trusted, tip);
        let (height, work) = (self.tree.height(&id), self.tree.work(&id));
        let branch = |tip: &Hash| {
            let chain = self.tree.chain(tip);
            let mut ids: Vec<Hash> =
                chain.take_while(|(_, entry)| entry.height > height).map(|(id, _)| id).collect();
            ids.reverse();
            Branch { ids, work: self.tree.work(tip) - work }
        };
        Fork { height, id, ours: branch(&self.trusted), theirs: branch(tip) }
    }

    /// Returns evidence that a block which follows `past` is not valid.
    pub(super) fn evidence_against(&self, past: Checkpoint, blob: &[u8]) -> Box<Evidence> {
        Box::new(self.evidence(past, vec![vec![blob.to_vec()]]))
    }

    fn evidence(&self, start: Checkpoint, sides: Vec<Vec<Vec<u8>>>) -> Evidence {
        let Config { network, fixed_difficulty, .. } = self.config;
        Evidence { network, fixed_difficulty, start, sides }
    }
}
