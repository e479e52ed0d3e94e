//! Batches of proofs of work, and the tip that follows from them.

use std::collections::HashSet;

use super::batch::Batch;
use super::event::{Action, JobId, Report, SourceId, SourceState};
use super::source::Source;
use super::tree::Entry;
use super::{Client, Config};
use crate::hash::Hash;
use crate::network::Network;

impl Client {
    /// Begins and ends batches.
    pub(super) fn work(&mut self, now: u64) {
        loop {
            match &mut self.batch {
                None if now < self.retry => return,
                None => match self.plan() {
                    Some(batch) => self.begin(batch, now),
                    None => return,
                },
                Some(batch) if batch.is_open() => return,
                Some(batch) if !batch.rest.is_empty() => {
                    let rest = std::mem::take(&mut batch.rest);
                    self.hash(&rest, now);
                }
                Some(_) => self.accept(),
            }
        }
    }

    /// Returns the batch towards the best chain of a source, if it has more work than the client's.
    fn plan(&mut self) -> Option<(Batch, usize)> {
        let ours = self.tree.work(&self.trusted);
        let counted = self.sources.iter().enumerate().filter(|(_, source)| source.counts());
        let work = |tip: &Hash| self.tree.work(tip);
        let better = counted.filter(|(_, source)| work(&source.tip) > ours);
        let (source, tip) = better
            .map(|(index, source)| (index, source.tip))
            .max_by_key(|(index, tip)| (work(tip), std::cmp::Reverse(*index)))?;
        let common = self.tree.common(&self.trusted, &tip);
        let extends = common == self.trusted;
        let fork = self.tree.height(&common);
        // Where the client's own chain would be left, nothing is left to chance: blocks that were
        // accepted without having been hashed do not count.
        let open = |entry: &Entry| if extends { !entry.accepted } else { entry.height > fork };
        let chain = self.tree.chain(&tip).take_while(|(id, entry)| open(entry) || *id == tip);
        let mut path: Vec<(Hash, bool)> = chain.map(|(id, entry)| (id, entry.hashed)).collect();
        path.reverse();
        let done = path.iter().take_while(|(id, hashed)| !extends && *hashed && *id != tip).count();
        let path = path.into_iter().skip(done).take(self.config.batch.max(1));
        let path = path.map(|(id, _)| id).collect();
        let sample = if extends { self.config.sample } else { 1 };
        Batch::new(path, sample, self.config.newest, &self.config.secret)
            .map(|batch| (batch, source))
    }

    fn begin(&mut self, (mut batch, source): (Batch, usize), now: u64) {
        let newest = batch.tip;
        let fork = self.fork(&self.sources[source].tip);
        if fork.ours.ids.len() as u64 >= self.config.deep
            && self.sources[source].announced != Some(fork.id)
        {
            self.sources[source].announced = Some(fork.id);
            let source = SourceId(source as u32);
            self.report(Report::DeepReorganisation { source, fork: Box::new(fork) });
        }
        let hashed = |id: &Hash| self.tree.get(id).is_some_and(|entry| entry.hashed);
        // A block whose hash is on its way is not accepted without it.
        let mut chosen: HashSet<Hash> = batch.rest.iter().copied().collect();
        chosen.extend(self.late.values().map(|(id, _)| *id));
        let open = |id: &&Hash| **id != newest && chosen.contains(*id) && !hashed(id);
        batch.rest = batch.path.iter().filter(open).copied().collect();
        let first = if hashed(&newest) { Vec::new() } else { vec![newest] };
        self.batch = Some(batch);
        self.hash(&first, now);
    }

    /// Requests the hashes of blocks, given from the oldest to the newest.
    fn hash(&mut self, ids: &[Hash], now: u64) {
        for (id, seed) in ids.iter().zip(self.tree.seed_hashes(ids)) {
            let (Some(seed_hash), Some(entry)) = (seed, self.tree.get(id)) else {
                // The base has no key for this block, which a complete one would have.
                self.batch = None;
                self.retry = now.saturating_add(self.config.poll);
                return;
            };
            let (job, blob) = (JobId(self.next_job), entry.blob.clone());
            self.next_job += 1;
            if let Some(batch) = &mut self.batch {
                batch.jobs.insert(job, *id);
            }
            self.actions.push_back(Action::Hash { job, seed_hash, blob });
        }
    }

    pub(super) fn on_hash(&mut self, job: JobId, hash: &Hash) {
        if let Some((id, difficulty)) = self.late.remove(&job) {
            self.on_late_hash(&id, difficulty.is_met_by(hash));
            return;
        }
        let Some(id) = self.batch.as_mut().and_then(|batch| batch.jobs.remove(&job)) else {
            return;
        };
        let met = self.tree.difficulty(&id).is_some_and(|difficulty| difficulty.is_met_by(hash));
        match self.tree.get_mut(&id) {
            Some(entry) if met => entry.hashed = true,
            _ => self.refuse(&id),
        }
    }

    pub(super) fn on_hash_failed(&mut self, job: JobId, now: u64) {
        if self.batch.as_ref().is_some_and(|batch| batch.jobs.contains_key(&job)) {
            self.end_batch();
            self.retry = now.saturating_add(self.config.poll);
        }
    }

    /// Ends a batch without accepting it. The hashes in work are still expected.
    fn end_batch(&mut self) {
        let Some(batch) = self.batch.take() else { return };
        // Hashes that are never computed must not fill the memory.
        if self.late.len() > self.config.batch {
            self.late.clear();
        }
        let open = batch.jobs.into_iter();
        let known = open.filter_map(|(job, id)| Some((job, (id, self.tree.difficulty(&id)?))));
        self.late.extend(known);
    }

    /// Takes a hash of a batch that was not accepted.
    fn on_late_hash(&mut self, id: &Hash, met: bool) {
        match self.tree.get_mut(id) {
            Some(entry) if met => entry.hashed = true,
            Some(entry) if entry.accepted => {}
            Some(_) => self.refuse(id),
            None if met => {}
            None => {
                self.remember_refused(*id);
                self.store();
            }
        }
    }

    fn remember_refused(&mut self, id: Hash) {
        self.refused.push_back(id);
        if self.refused.len() > Self::MAX_REFUSED {
            self.refused.pop_front();
        }
    }

    /// Removes a block without its proof of work, and accuses the sources that have it.
    fn refuse(&mut self, id: &Hash) {
        let Some(entry) = self.tree.get(id) else { return };
        let (parent, blob) = (entry.parent, entry.blob.clone());
        let evidence = self.evidence_against(&parent, &blob);
        let has_it = |index: &usize| {
            let source = &self.sources[*index];
            source.counts() && self.tree.descends(&source.tip, id)
        };
        let accused: Vec<usize> = (0..self.sources.len()).filter(has_it).collect();
        self.end_batch();
        self.tree.remove(id);
        self.remember_refused(*id);
        for source in accused {
            let reason = self.lacks_work();
            let evidence = Some(evidence.clone());
            self.set_state(source, SourceState::Invalid { reason, evidence });
        }
        self.changed = true;
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

    /// Accepts a batch, and makes its newest block the tip if that has the most work.
    fn accept(&mut self) {
        let Some(Batch { tip, path, .. }) = self.batch.take() else { return };
        for id in &path {
            if let Some(entry) = self.tree.get_mut(id) {
                entry.accepted = true;
            }
        }
        let supports = |source: &Source| source.counts() && self.tree.descends(&source.tip, &tip);
        let supported = self.sources.iter().any(supports);
        if supported && self.tree.work(&tip) > self.tree.work(&self.trusted) {
            self.adopt(tip);
        }
    }

    fn adopt(&mut self, tip: Hash) {
        let fork = self.fork(&tip);
        self.trusted = tip;
        let (height, base) = (self.tree.height(&tip), self.tree.base().height);
        if height - base > self.config.kept + self.config.slack() {
            let oldest = height - self.config.kept;
            let found = self.tree.chain(&tip).find(|(_, entry)| entry.height == oldest);
            if let Some(id) = found.map(|(id, _)| id) {
                self.rebase(&id);
            }
        }
        self.store();
        let tip = self.describe(&tip);
        self.report(if fork.ours.ids.is_empty() {
            Report::Tip(tip)
        } else {
            Report::Reorganised { fork: Box::new(fork), tip }
        });
        self.changed = true;
    }

    fn rebase(&mut self, id: &Hash) {
        self.tree.rebase(id);
        for source in &mut self.sources {
            let moved = !self.tree.contains(&source.tip);
            if moved || source.search.is_some() {
                source.outdate();
                source.search = None;
                source.claim = None;
                source.due = 0;
            }
            if moved {
                source.tip = *id;
            }
        }
    }

    pub(super) fn store(&mut self) {
        if let Some(bytes) = self.save() {
            self.actions.push_back(Action::Store(bytes));
        }
    }
}
