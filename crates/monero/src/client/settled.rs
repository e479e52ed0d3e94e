//! Whether the client waits for its sources.

use super::Client;
use super::event::{SourceId, SourceState};
use super::growth::STALE;
use super::source::{Source, Wait};

impl Client {
    /// Whether there is nothing to do before the sources' chains change: each source has been read and its side
    /// reported, or is known not to give its chain. A source that promises blocks for more than an hour, in all
    /// since the client last waited for no source and without sleeps, does not count, unless it adds to an old chain.
    pub fn is_settled(&self) -> bool {
        let is_late = |source: &Source| source.awaited.total(self.elapsed) > STALE;
        let holds_up = |source: &Source| self.awaits(source) && !is_late(source);
        let has_side = |source: &Source| source.is_usable() && source.side.is_some();
        let waits = |source: &Source| holds_up(source) || has_side(source);
        self.is_idle() && !self.reads_anew() && !self.sources.iter().any(waits)
    }

    /// Whether a source's chain was compared with the client's, to its end or as far as the client reads
    /// it. Nothing is known about a chain that ends before the oldest kept block.
    pub fn has_read(&self, source: SourceId) -> bool {
        let was_read = |source: &Source| source.was_read() && !self.has_miss(&source.tip);
        self.anchoring.is_none() && self.sources.get(source.index()).is_some_and(was_read)
    }

    /// Whether a source has yet to show its chain.
    fn awaits(&self, source: &Source) -> bool {
        let read = source.claim.is_none_or(|claim| claim <= self.tree.height(&source.tip));
        let done = read || source.state == SourceState::Behind;
        let is_open = source.state == SourceState::Connecting || !done || source.search.is_some();
        is_open || source.counts() && self.has_miss(&source.tip)
    }

    /// Notes for how long each source keeps the client waiting. While the client's chain is old, a
    /// source with more work is of use, however slow it is.
    pub(super) fn watch_sources(&mut self, now: u64) {
        let is_old = now.saturating_sub(self.tree.timestamp(&self.trusted)) > STALE;
        let mut is_waiting = false;
        for index in 0..self.sources.len() {
            let source = &self.sources[index];
            let (helps, waits) =
                (is_old && source.counts() && self.is_better(&source.tip), self.awaits(source));
            is_waiting |= waits;
            let awaited = &mut self.sources[index].awaited;
            if helps {
                *awaited = Wait::default();
            } else {
                awaited.note(waits, self.elapsed);
            }
        }
        if !is_waiting {
            self.sources.iter_mut().for_each(|source| source.awaited = Wait::default());
        }
    }
}
