//! The base, and the sources that it waits for.
//!
//! A chain that leaves the client's before the base cannot be followed any more. So the base does not
//! move past the last block that a source is known to share, until that source has had time to show
//! more of its chain. Otherwise a quick source could hide the chain of a slow one that has more work.
//!
//! Meanwhile the client's chain has at most [`Config::longest`] blocks after the base, so memory
//! stays bounded. A source delays the base for ten minutes in all, and a second more for each new block
//! that it shows. If its requests fail, it delays the base for one minute. This time begins anew only once
//! the client's chain is up to date.

use super::hold::Pace;
use super::source::{Search, Source};
use super::{Client, Config};

impl Config {
    /// The most blocks of the client's chain after the base.
    pub(super) fn longest(&self) -> u64 {
        let batch = self.batch.max(1) as u64;
        self.kept.saturating_add(self.slack()).saturating_add(batch)
    }
}

impl Client {
    /// Moves the base if it lags, as far as the sources allow. Returns whether it moved.
    pub(super) fn move_base(&mut self) -> bool {
        let wanted = self.tree.height(&self.trusted).saturating_sub(self.config.kept);
        let least = self.tree.base().height.saturating_add(self.config.slack());
        if wanted <= least {
            self.sources.iter_mut().for_each(|source| source.hold.end());
            return false;
        }
        let limits = (0..self.sources.len()).filter_map(|source| self.hold(source, wanted)).min();
        let height = limits.unwrap_or(wanted);
        if height <= least {
            return false;
        }
        let Some(id) = self.block_id(height) else { return false };
        self.rebase(&id);
        true
    }

    /// Returns the height that the base may not exceed because of a source, if there is one.
    fn hold(&mut self, index: usize, wanted: u64) -> Option<u64> {
        let shared = |client: &Self, source: &Source| {
            client.tree.height(&client.tree.common(&source.tip, &client.trusted))
        };
        if shared(self, &self.sources[index]) < wanted {
            self.recognise(index);
        }
        let source = &self.sources[index];
        let limit = shared(self, source);
        if !source.counts() || limit >= wanted || self.has_long_side(index) {
            self.sources[index].hold.end();
            return None;
        }
        // While the client hashes a chain with more work, its source need not hurry.
        let pace = if self.is_better(&source.tip) {
            Pace::Hashing
        } else if source.is_failing() {
            Pace::Failing
        } else {
            Pace::Answering
        };
        self.sources[index].hold.wait(self.elapsed, pace).then_some(limit)
    }

    /// Notes that a source's whole chain is known if another source has shown its newest block.
    fn recognise(&mut self, index: usize) {
        let source = &mut self.sources[index];
        let is_new = source.counts() && source.tip != source.end;
        let Some(height) = source.claim.filter(|_| is_new) else { return };
        if self.tree.contains(&source.end) && self.tree.height(&source.end) == height {
            let end = source.end;
            source.search = None;
            // The answers to its open requests are no longer needed.
            source.outdate();
            source.due = 0;
            self.show(index, end);
            self.changed = true;
        }
    }

    /// Begins a search for the last common block of a source that the base waits for. If the source
    /// has the client's chain, this is quicker than to read it again.
    pub(super) fn begin_base_search(&mut self, index: usize) {
        let source = &self.sources[index];
        if !source.hold.is_waiting() || source.search.is_some() {
            return;
        }
        let low = self.tree.height(&source.tip);
        let end = source.claim.map(|claim| claim.min(self.tree.height(&self.trusted)));
        let Some(end) = end.filter(|&end| end > low) else { return };
        let is_shared = self.tree.common(&source.tip, &self.trusted) == source.tip;
        let source = &mut self.sources[index];
        if is_shared && source.hold.begin_search() {
            source.search = Some(Search::new(low, end + 1));
        }
    }

    /// Whether the client's chain is as long as it may be before the base moves.
    pub(super) fn is_full(&self) -> bool {
        self.tree.height(&self.trusted) >= self.end_of_own()
    }

    /// The greatest height of the client's chain before the base moves.
    pub(super) fn end_of_own(&self) -> u64 {
        self.tree.base().height.saturating_add(self.config.longest())
    }

    /// Whether blocks with more work wait for the base.
    pub(super) fn waits_for_base(&self) -> bool {
        let work = self.tree.work(&self.trusted);
        let is_better = |source: &Source| source.counts() && self.tree.work(&source.tip) > work;
        self.is_full() && self.sources.iter().any(is_better)
    }
}
