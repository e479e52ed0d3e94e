//! Hashes in work, and what they show about blocks and their sources.

use super::event::{Action, JobId, SourceState};
use super::senders::Senders;
use super::tree::Tree;
use super::{Client, Config};
use crate::checkpoint::Checkpoint;
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
    /// The sources that had shown the block when the hash was requested, or before the tree dropped it.
    pub(super) senders: Senders,
    /// The chain before the block, if the tree has dropped it.
    pub(super) past: Option<Box<Checkpoint>>,
}

/// A proof of work that one hash has refuted, and a second one is to refute.
#[derive(Clone, Debug)]
pub(super) struct Doubt {
    job: JobId,
    pub(super) proof: Proof,
    first: Hash,
}

impl Client {
    /// Requests a block's hash. Returns `None` if the base has no key for the block, which a complete one would have.
    pub(super) fn request_proof(
        &mut self,
        id: &Hash,
        seed_hash: Option<Hash>,
    ) -> Option<(JobId, Proof)> {
        let (seed_hash, entry, difficulty) =
            (seed_hash?, self.tree.get(id)?, self.tree.difficulty(id)?);
        let (blob, senders) = (entry.blob.clone(), entry.senders);
        let job = self.request_hash(&seed_hash, &blob, false);
        Some((job, Proof { id: *id, difficulty, seed_hash, blob, senders, past: None }))
    }

    fn request_hash(&mut self, seed_hash: &Hash, blob: &[u8], fresh: bool) -> JobId {
        let job = JobId(self.next_job);
        self.next_job += 1;
        let (seed_hash, blob) = (*seed_hash, blob.to_vec());
        self.actions.push_back(Action::Hash { job, seed_hash, blob, fresh });
        job
    }

    pub(super) fn on_hash(&mut self, job: JobId, hash: &Hash, now: u64) {
        if let Some(doubt) = self.doubt.take_if(|doubt| doubt.job == job) {
            self.settle(doubt, hash, now);
            return self.doubt_next();
        }
        let in_work = self.batch.as_mut().and_then(|batch| batch.jobs.remove(&job));
        let is_in_work = in_work.is_some();
        let others = || self.late.remove(&job).or_else(|| self.take_side(job));
        let Some(proof) = in_work.or_else(others) else { return };
        if proof.difficulty.is_met_by(hash) {
            self.note_hashed(&proof.id);
            return;
        }
        let is_trusted = self.tree.descends(&self.trusted, &proof.id);
        if let Some(entry) = self.tree.get_mut(&proof.id) {
            // A wrong hash must not undo the client's chain.
            if !is_in_work && entry.accepted && is_trusted {
                return;
            }
            entry.doubted = true;
        } else if !is_in_work && self.accused(&proof).is_empty() {
            // Nothing depends on a second hash.
            return;
        }
        self.doubt(proof, hash);
    }

    /// Has a block that one hash has refuted hashed again. Each second hash fills a cache, so there is one at a time, and
    /// of those that wait, one for each source. Others are hashed again if their chain is still the best.
    fn doubt(&mut self, mut proof: Proof, first: &Hash) {
        proof.senders = self.accused(&proof);
        let Some(doubt) = &self.doubt else { return self.begin_doubt(proof, first) };
        let others = self.doubts.iter().map(|(other, _)| other.senders);
        let covered = others.fold(doubt.proof.senders, Senders::union);
        if !proof.senders.without(covered).is_empty() {
            self.doubts.push_back((proof, *first));
        }
    }

    fn begin_doubt(&mut self, proof: Proof, first: &Hash) {
        self.end_batch();
        let job = self.request_hash(&proof.seed_hash, &proof.blob, true);
        self.doubt = Some(Doubt { job, proof, first: *first });
    }

    /// Goes on with the next block in doubt that a source has to answer for.
    fn doubt_next(&mut self) {
        while let Some((proof, first)) = self.doubts.pop_front() {
            // The difficulty may be another one by now.
            if !self.accused(&proof).is_empty() && !proof.difficulty.is_met_by(&first) {
                return self.begin_doubt(proof, &first);
            }
        }
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
        let is_doubt = self.doubt.take_if(|doubt| doubt.job == job).is_some();
        if is_doubt || self.batch.as_ref().is_some_and(|batch| batch.jobs.contains_key(&job)) {
            self.end_batch();
            self.changed = true;
            self.retry = now.saturating_add(self.config.poll);
        } else if self.take_side(job).is_some() {
            self.retry = now.saturating_add(self.config.poll);
        }
        if is_doubt {
            self.doubt_next();
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

    /// Changes all proofs whose hashes are in work or have refuted them once.
    pub(super) fn each_proof(&mut self, mut change: impl FnMut(&Tree, &mut Proof)) {
        let Self { tree, batch, late, doubt, doubts, sources, .. } = self;
        let of_batch = batch.iter_mut().flat_map(|batch| batch.jobs.values_mut());
        let in_doubt = doubt.iter_mut().map(|doubt| &mut doubt.proof);
        let in_doubt = in_doubt.chain(doubts.iter_mut().map(|(proof, _)| proof));
        let sides = sources.iter_mut().filter_map(|source| source.side.as_mut());
        let sides = sides.map(|(_, proof)| proof);
        let proofs = in_doubt.chain(sides).chain(of_batch).chain(late.values_mut());
        proofs.for_each(|proof| change(tree, proof));
    }

    /// Returns the sources that have shown a block, without those that are known to be invalid.
    fn accused(&self, proof: &Proof) -> Senders {
        let since = self.tree.get(&proof.id).map_or(proof.senders, |entry| entry.senders);
        proof.senders.union(since).filter(|source| self.sources[source].is_usable())
    }

    /// Removes a block without its proof of work, and accuses the sources that showed it.
    fn refuse(&mut self, proof: &Proof) {
        let (id, accused) = (&proof.id, self.accused(proof));
        let past = self.tree.get(id).map(|entry| self.tree.checkpoint(&entry.parent));
        let past = past.or_else(|| proof.past.as_deref().cloned());
        let evidence = past.map(|past| self.evidence_against(past, &proof.blob));
        self.tree.remove(id);
        self.refused.push_back(*id);
        if self.refused.len() > Self::MAX_REFUSED {
            self.refused.pop_front();
        }
        for source in accused.iter() {
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
