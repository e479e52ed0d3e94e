//! Hashes in work, and what they show about blocks and their sources.

use super::event::{Action, JobId, SourceState};
use super::{Client, Config};
use crate::difficulty::Difficulty;
use crate::hash::Hash;
use crate::network::Network;

/// A proof of work whose hash is computed.
#[derive(Clone, Debug)]
pub(super) struct Proof {
    pub(super) id: Hash,
    pub(super) difficulty: Difficulty,
    pub(super) seed_hash: Hash,
    pub(super) blob: Vec<u8>,
    /// The sources whose chains had the block when the hash was requested.
    pub(super) senders: Vec<usize>,
}

/// A proof of work that one hash has refuted, and a second one is to refute.
#[derive(Clone, Debug)]
pub(super) struct Doubt {
    job: JobId,
    pub(super) proof: Proof,
    first: Hash,
}

impl Client {
    pub(super) fn request_hash(&mut self, seed_hash: &Hash, blob: &[u8], fresh: bool) -> JobId {
        let job = JobId(self.next_job);
        self.next_job += 1;
        let (seed_hash, blob) = (*seed_hash, blob.to_vec());
        self.actions.push_back(Action::Hash { job, seed_hash, blob, fresh });
        job
    }

    pub(super) fn on_hash(&mut self, job: JobId, hash: &Hash, now: u64) {
        if let Some(doubt) = self.doubt.take_if(|doubt| doubt.job == job) {
            return self.settle(doubt, hash, now);
        }
        let late = self.late.remove(&job);
        let is_late = late.is_some();
        let in_work = || self.batch.as_mut().and_then(|batch| batch.jobs.remove(&job));
        let Some(proof) = late.or_else(in_work) else { return };
        if proof.difficulty.is_met_by(hash) {
            self.note_hashed(&proof.id);
            return;
        }
        if let Some(entry) = self.tree.get_mut(&proof.id) {
            if is_late && entry.accepted {
                return;
            }
            entry.doubted = true;
        }
        // Another block may be in doubt: then this one is hashed again if its chain is still the best.
        if self.doubt.is_some() {
            return;
        }
        self.end_batch();
        let job = self.request_hash(&proof.seed_hash, &proof.blob, true);
        self.doubt = Some(Doubt { job, proof, first: *hash });
    }

    /// Takes the second hash of a block in doubt.
    fn settle(&mut self, Doubt { proof, first, .. }: Doubt, second: &Hash, now: u64) {
        // The block may have been kept for this alone.
        self.changed = true;
        if proof.difficulty.is_met_by(second) {
            self.note_hashed(&proof.id);
        } else if first == *second && self.may_be_misstated(&proof, second) {
            self.note_miss(&proof);
        } else if first == *second {
            self.refuse(&proof);
        } else {
            self.retry = now.saturating_add(self.config.poll);
        }
    }

    fn note_hashed(&mut self, id: &Hash) {
        if let Some(entry) = self.tree.get_mut(id) {
            entry.hashed = true;
        }
    }

    pub(super) fn on_hash_failed(&mut self, job: JobId, now: u64) {
        let doubt = self.doubt.take_if(|doubt| doubt.job == job);
        if doubt.is_some() || self.batch.as_ref().is_some_and(|batch| batch.jobs.contains_key(&job))
        {
            self.end_batch();
            self.changed = true;
            self.retry = now.saturating_add(self.config.poll);
        }
    }

    /// Ends a batch without accepting it. The hashes in work are still expected.
    pub(super) fn end_batch(&mut self) {
        let Some(batch) = self.batch.take() else { return };
        // Hashes that are never computed must not fill the memory.
        if self.late.len() > self.config.batch {
            self.late.clear();
        }
        self.late.extend(batch.jobs);
    }

    /// Removes a block without its proof of work, and accuses the sources that showed it.
    fn refuse(&mut self, proof: &Proof) {
        let Proof { id, senders, .. } = proof;
        let shows = |index: &usize| {
            let source = &self.sources[*index];
            let has_it = source.counts() && self.tree.descends(&source.tip, id);
            source.is_usable() && (has_it || senders.contains(index))
        };
        let accused: Vec<usize> = (0..self.sources.len()).filter(shows).collect();
        let parent = self.tree.get(id).map(|entry| entry.parent);
        let evidence = parent.map(|parent| self.evidence_against(&parent, &proof.blob));
        self.tree.remove(id);
        self.refused.push_back(*id);
        if self.refused.len() > Self::MAX_REFUSED {
            self.refused.pop_front();
        }
        for source in accused {
            let (reason, evidence) = (self.lacks_work(), evidence.clone());
            self.set_state(source, SourceState::Invalid { reason, evidence });
        }
        self.store();
    }

    /// Returns why a block without its proof of work is refused. On a chain of one's own it may be
    /// the setting that is wrong.
    pub(super) fn lacks_work(&self) -> String {
        let Config { network, fixed_difficulty, .. } = self.config;
        match (fixed_difficulty, network) {
            (Some(fixed), _) => {
                format!("a block lacks the proof of work of the fixed difficulty {fixed}")
            }
            (None, Network::Regtest) => "a block lacks its proof of work; a node that runs with \
                 --fixed-difficulty needs the same setting here"
                .to_owned(),
            (None, _) => "a block lacks its proof of work".to_owned(),
        }
    }
}
