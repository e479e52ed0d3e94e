//! The time of events, which comes from a clock that somebody may set.

use super::Client;
use super::event::SourceId;
use super::source::LONGEST_PAUSE;
use crate::timestamp::TIMESTAMP_FUTURE_LIMIT;

/// The seconds without any event after which the process must have slept. Even a page in the background
/// has one each minute.
const SLEEP: u64 = 120;

impl Client {
    /// Notes the time of an event.
    pub(super) fn note_time(&mut self, now: u64) {
        // While the process slept, no source had time to answer.
        let passed = now.checked_sub(self.clock).filter(|&passed| passed <= SLEEP);
        let passed = passed.unwrap_or(0);
        self.elapsed = self.elapsed.saturating_add(passed);
        if self.is_hashing() {
            // No source is to blame for the time that the client's own hashes take.
            self.current = self.current.map(|last| last.saturating_add(passed));
        }
        if now < self.clock {
            self.set_back(now);
        } else if now - self.clock > SLEEP {
            self.wake(now);
        }
        self.clock = now;
    }

    /// Asks sources anew after a sleep. Answers from before it do not show that the chains stand still,
    /// and no source is late or slow because of it.
    fn wake(&mut self, now: u64) {
        let slept = now - self.clock;
        self.current = self.current.map(|last| last.saturating_add(slept));
        for source in &mut self.sources {
            // The client still waits for blocks that it has not read.
            if source.claim.is_some_and(|claim| claim <= self.tree.height(&source.tip)) {
                source.claim = None;
                source.due = 0;
            }
        }
        if let Some((_, Some(provider))) = &mut self.anchoring {
            provider.wake(slept);
        }
    }

    /// Returns by how many seconds a source's next block is ahead of the clock, if that is why the
    /// client does not take it. The clock may be slow.
    pub fn early(&self, source: SourceId) -> Option<u64> {
        let timestamp = self.sources.get(source.index())?.early?;
        timestamp.checked_sub(self.clock).filter(|&ahead| ahead > TIMESTAMP_FUTURE_LIMIT)
    }

    /// Whether the blocks of all sources that the client could follow are too early.
    pub(super) fn is_clock_slow(&self) -> bool {
        !self.sources.iter().any(|source| source.was_read() && source.early.is_none())
    }

    /// Moves all noted times into the range that they have by a clock that was set back.
    fn set_back(&mut self, now: u64) {
        let next = now.saturating_add(self.config.poll);
        self.retry = self.retry.min(next);
        self.current = self.current.map(|time| time.min(now));
        for source in &mut self.sources {
            source.paused = source.paused.min(now.saturating_add(LONGEST_PAUSE));
            source.due = source.due.min(next.max(source.paused));
        }
        if let Some((_, Some(provider))) = &mut self.anchoring {
            provider.set_back(now);
        }
    }
}
