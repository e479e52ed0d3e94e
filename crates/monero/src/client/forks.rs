//! Where the sources' chains differ from the client's.

use super::Client;
use super::event::{Branch, Fork, Report, SourceId, SourceState};
use super::evidence::Evidence;
use super::growth::STALE;
use super::hold::Hold;
use crate::hash::Hash;

impl Client {
    /// Drops what no chain needs any more.
    pub(super) fn prune(&mut self) {
        let sources = self.sources.iter().filter(|source| source.counts());
        let mut tips: Vec<Hash> = sources.map(|source| source.tip).collect();
        tips.push(self.trusted);
        tips.extend(self.batch.as_ref().map(|batch| batch.tip));
        // No batch is in work then.
        tips.extend(self.doubt.as_ref().map(|doubt| doubt.proof.id));
        self.tree.retain(&tips);
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
        if fork.ours.ids.is_empty() || fork.theirs.ids.is_empty() {
            self.sources[index].reported = None;
        } else if self.sources[index].reported != Some(fork.id) {
            self.sources[index].reported = Some(fork.id);
            let blobs = |branch: &Branch| -> Vec<Vec<u8>> {
                let entries = branch.ids.iter().filter_map(|id| self.tree.get(id));
                entries.map(|entry| entry.blob.clone()).collect()
            };
            let sides = vec![blobs(&fork.ours), blobs(&fork.theirs)];
            let evidence = Box::new(self.evidence(&fork.id, sides));
            let (source, fork) = (SourceId(index as u32), Box::new(fork));
            self.report(Report::Disagreement { source, fork, evidence });
        }
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

    /// Returns evidence that a block which follows `parent` is not valid.
    pub(super) fn evidence_against(&self, parent: &Hash, blob: &[u8]) -> Box<Evidence> {
        Box::new(self.evidence(parent, vec![vec![blob.to_vec()]]))
    }

    fn evidence(&self, start: &Hash, sides: Vec<Vec<Vec<u8>>>) -> Evidence {
        Evidence {
            network: self.config.network,
            fixed_difficulty: self.config.fixed_difficulty,
            start: self.tree.checkpoint(start),
            sides,
        }
    }
}
