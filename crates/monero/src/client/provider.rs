//! The source that a first start reads from.
//!
//! Until the second anchor is reached, nothing shows which sources are honest. A source could send almost all blocks,
//! fall silent, and begin again. So no source is read for longer than a turn of ten minutes while others wait, and what
//! it has sent is kept for its next turn. An answer that comes after the turn is kept too: a user can allow an
//! hour for each request. Of `n` sources, each has at least one of `2 * (n - 1)` turns.

use std::cmp::Reverse;

use super::Client;
use super::event::SourceId;
use super::source::Source;

/// The time of a turn, over which a source's pace is measured, in seconds.
const STINT: u64 = 600;

/// The number of blocks in this time that is enough to read them once more: one in a second.
const ENOUGH: u64 = 600;

/// A source that a first start reads from, and its present turn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Provider {
    source: SourceId,
    /// The time at which the turn began, and the number of blocks that had been read.
    since: u64,
    read: u64,
}

impl Provider {
    fn new(source: usize, since: u64, read: u64) -> Self {
        Self { source: SourceId(source as u32), since, read }
    }

    /// Whether it is the source with a number.
    pub(super) fn is(&self, source: usize) -> bool {
        self.source.index() == source
    }

    /// Returns the number of blocks that were read in the present turn.
    pub(super) fn pace(&self, read: u64) -> u64 {
        read.saturating_sub(self.read)
    }

    /// Takes note of a sleep of so many seconds.
    pub(super) fn wake(&mut self, slept: u64) {
        self.since = self.since.saturating_add(slept);
    }

    /// Takes note of a clock that was set back.
    pub(super) fn set_back(&mut self, now: u64) {
        self.since = self.since.min(now);
    }
}

impl Client {
    /// Chooses the source that a first start reads from. Sources take turns, and each goes on where its last turn ended.
    /// Every other turn is the fastest one's.
    pub(super) fn choose_provider(&mut self, now: u64) {
        let Some((anchoring, provider)) = &mut self.anchoring else { return };
        // A hash that was late may have shown that it lies.
        *provider = provider.filter(|present| self.sources[present.source.index()].counts());
        let present = provider.map(|present| present.source.index());
        if let (Some(Provider { since, .. }), Some(source)) = (*provider, present) {
            if now.saturating_sub(since) < STINT {
                return;
            }
            let read = anchoring.blocks();
            let pace =
                provider.replace(Provider::new(source, now, read)).map(|last| last.pace(read));
            self.sources[source].pace = pace;
            // The time of another reading is limited.
            if anchoring.is_anew && pace >= Some(ENOUGH) {
                return;
            }
        }
        let last = self.sources.iter().map(|source| source.turn).max().unwrap_or(0);
        let is_fastest = last % 2 == 1;
        let rank = |&index: &usize| {
            let Source { statements, pace, turn, .. } = &self.sources[index];
            // A source that has stated difficulties may have lied: one that did so less often comes first.
            let statements = if anchoring.is_anew && present.is_none() { *statements } else { 0 };
            // One whose pace is unknown may be the fastest.
            let pace = if is_fastest { pace.unwrap_or(u64::MAX) } else { 0 };
            (statements, Reverse(pace), *turn)
        };
        let provides = |index: &usize| {
            present == Some(*index) || self.sources[*index].can_provide(anchoring.height())
        };
        let Some(next) = (0..self.sources.len()).filter(provides).min_by_key(rank) else { return };
        self.sources[next].turn = last + 1;
        if present == Some(next) {
            return;
        }
        anchoring.read_from(SourceId(next as u32));
        let states = anchoring.is_anew && !anchoring.is_resumed;
        self.sources[next].statements += u32::from(states);
        *provider = Some(Provider::new(next, now, anchoring.blocks()));
    }
}
