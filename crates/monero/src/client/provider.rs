//! The source that a first start reads from.

use super::Client;
use super::event::SourceId;
use super::source::Source;

/// The time over which a provider's pace is measured, in seconds.
const STINT: u64 = 600;

/// The number of blocks in this time that is enough: one in a second.
const ENOUGH: u64 = 600;

/// A source that a first start reads from, and the present measurement of its pace.
#[derive(Clone, Copy, Debug)]
pub(super) struct Provider {
    source: SourceId,
    /// The time at which the measurement began, and the number of blocks that had been read.
    since: u64,
    read: u64,
}

impl Provider {
    /// Whether it is the source with a number.
    pub(super) fn is(&self, source: usize) -> bool {
        self.source.index() == source
    }

    /// Returns the number of blocks that were read in the present measurement.
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
    /// Chooses the source that a first start reads from. A slow one gives way to one that may be
    /// faster, which begins anew: until the second anchor is reached, nothing proves what was read.
    /// One that answers again after an outage goes on, unless another one was read meanwhile.
    pub(super) fn choose_provider(&mut self, now: u64) {
        let Some((anchoring, provider)) = &mut self.anchoring else { return };
        let (read, is_anew) = (anchoring.blocks(), anchoring.is_anew);
        // A hash that was late may have shown that it lies.
        *provider = provider.filter(|present| self.sources[present.source.index()].counts());
        if let Some(present @ Provider { source, since, .. }) = *provider {
            if now.saturating_sub(since) < STINT {
                return;
            }
            let pace = present.pace(read);
            *provider = Some(Provider { source, since: now, read });
            self.sources[source.index()].pace = Some(pace);
            let (height, statements) =
                (anchoring.height(), self.sources[source.index()].statements);
            let may_be_faster = |other: &Source| {
                other.can_provide(height)
                    && other.pace.is_none_or(|other| other > pace)
                    && (!is_anew || other.statements <= statements)
            };
            if pace >= ENOUGH || !self.sources.iter().any(may_be_faster) {
                return;
            }
            self.sources[source.index()].outdate();
        }
        // One whose pace is unknown may be the fastest. Before all, one that has stated difficulties less
        // often: a source that did may have lied.
        let pace = |index: &usize| {
            let Source { statements, pace, .. } = &self.sources[*index];
            (std::cmp::Reverse(*statements), pace.unwrap_or(u64::MAX))
        };
        *provider = (0..self.sources.len())
            .filter(|&index| self.sources[index].can_provide(anchoring.height()))
            .max_by_key(|index| (pace(index), std::cmp::Reverse(*index)))
            .map(|index| SourceId(index as u32))
            .map(|source| {
                anchoring.read_from(source);
                let states = is_anew && !anchoring.is_resumed;
                self.sources[source.index()].statements += u32::from(states);
                Provider { source, since: now, read: anchoring.blocks() }
            });
    }
}
