//! Batches of proofs of work, and the tip that follows from them.

use std::collections::HashSet;

use super::Client;
use super::batch::Batch;
use super::event::{Action, Report, SourceId};
use super::source::Source;
use super::tree::Entry;
use crate::hash::Hash;

impl Client {
    /// Begins and ends batches.
    pub(super) fn work(&mut self, now: u64) {
        while self.doubt.is_none() {
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

    /// Returns the batch towards a hash that missed narrowly, or else towards the best chain of a source, if it has more
    /// work than the client's.
    fn plan(&mut self) -> Option<(Batch, usize)> {
        if let Some((source, tip)) = self.unproven_miss()
            && let Some(batch) = self.batch_to(&tip, true)
        {
            return Some((batch, source));
        }
        let counted = self.sources.iter().enumerate().filter(|(_, source)| source.counts());
        let work = |tip: &Hash| self.tree.work(tip);
        let is_full = self.is_full();
        let waits = |tip: &Hash| is_full && self.tree.descends(tip, &self.trusted);
        let better =
            counted.filter(|(_, source)| self.is_better(&source.tip) && !waits(&source.tip));
        let (source, tip) = better
            .map(|(index, source)| (index, source.tip))
            .max_by_key(|(index, tip)| (work(tip), std::cmp::Reverse(*index)))?;
        Some((self.batch_to(&tip, false)?, source))
    }

    /// Returns the next batch of the chain up to `tip`. To prove it, all blocks are hashed, a few at a time: forged ones
    /// come first, and each near miss takes a cache.
    fn batch_to(&self, tip: &Hash, proves: bool) -> Option<Batch> {
        let common = self.tree.common(&self.trusted, tip);
        let extends = common == self.trusted;
        // Where the client's own chain would be left, nothing is left to chance: blocks that were
        // accepted without having been hashed do not count.
        let all = proves || !extends;
        let fork = self.tree.height(&common);
        let open = |entry: &Entry| if all { entry.height > fork } else { !entry.accepted };
        let chain = self.tree.chain(tip).take_while(|(id, entry)| open(entry) || id == tip);
        let mut path: Vec<(Hash, bool)> = chain.map(|(id, entry)| (id, entry.hashed)).collect();
        path.reverse();
        let done = path.iter().take_while(|(id, hashed)| all && *hashed && id != tip).count();
        let end = if extends { self.end_of_own() } else { u64::MAX };
        let most = if proves { self.config.newest } else { self.config.batch };
        let path = path.into_iter().skip(done).take(most.max(1));
        let path = path.map(|(id, _)| id).take_while(|id| self.tree.height(id) <= end).collect();
        let sample = if all { 1 } else { self.config.sample };
        Batch::new(path, sample, self.config.newest, &self.config.secret)
    }

    /// Whether a chain has more work than the client's, and no hash that is known to miss narrowly.
    pub(super) fn is_better(&self, tip: &Hash) -> bool {
        self.tree.work(tip) > self.tree.work(&self.trusted) && !self.has_miss(tip)
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
        // A block whose hash is on its way is not accepted without it, nor one that is in doubt.
        let mut chosen: HashSet<Hash> = batch.rest.iter().copied().collect();
        chosen.extend(self.late.values().map(|proof| proof.id));
        chosen.extend(self.sources.iter().filter_map(|source| Some(source.side.as_ref()?.1.id)));
        let doubted = |id: &Hash| self.tree.get(id).is_some_and(|entry| entry.doubted);
        let wanted = |id: &Hash| chosen.contains(id) || doubted(id);
        let open = |id: &&Hash| **id != newest && wanted(id) && !hashed(id);
        batch.rest = batch.path.iter().filter(open).copied().collect();
        let first = if hashed(&newest) { Vec::new() } else { vec![newest] };
        self.batch = Some(batch);
        self.hash(&first, now);
    }

    /// Requests the hashes of blocks, given from the oldest to the newest.
    fn hash(&mut self, ids: &[Hash], now: u64) {
        for (id, seed_hash) in ids.iter().zip(self.tree.seed_hashes(ids)) {
            let Some((job, proof)) = self.request_proof(id, seed_hash) else {
                self.batch = None;
                self.retry = now.saturating_add(self.config.poll);
                return;
            };
            if let Some(batch) = &mut self.batch {
                batch.jobs.insert(job, proof);
            }
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
        self.move_base();
        self.store();
        let tip = self.describe(&tip);
        if fork.ours.ids.is_empty() {
            self.report(Report::Tip(tip));
        } else {
            // The next one may begin at the same block.
            self.sources.iter_mut().for_each(|source| source.announced = None);
            self.report(Report::Reorganised { fork: Box::new(fork), tip });
        }
        self.changed = true;
    }

    pub(super) fn rebase(&mut self, id: &Hash) {
        let after = self.tree.after(id);
        self.keep_accusations(&after);
        self.tree.rebase(id, &after);
        for source in &mut self.sources {
            let moved = !self.tree.contains(&source.tip);
            if source.search.is_some_and(|search| search.probe().is_some()) {
                source.hold.give_up_search();
            }
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

    /// Whether hashes are in work that decide whether the client's chain grows.
    pub(super) fn is_hashing(&self) -> bool {
        self.doubt.is_some() || self.batch.as_ref().is_some_and(Batch::is_open)
    }

    /// Whether no proof of work is being checked, and no better chain waits for the base.
    pub(super) fn is_idle(&self) -> bool {
        self.batch.is_none() && self.doubt.is_none() && !self.waits_for_base()
    }

    pub(super) fn store(&mut self) {
        if let Some(bytes) = self.save() {
            self.actions.push_back(Action::Store(bytes));
        }
    }
}
