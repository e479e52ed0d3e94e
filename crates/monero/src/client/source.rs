//! The state of one source.

use std::collections::VecDeque;

use super::event::{JobId, RequestId, SourceState};
use super::hold::Hold;
use super::proofs::Proof;
use crate::hash::Hash;

/// Failures in a row after which a source counts as unresponsive.
const PATIENCE: u32 = 3;

/// The longest pause between attempts, in seconds. After an outage nothing else ends it.
pub(super) const LONGEST_PAUSE: u64 = 60;

/// The most searches before a source's chain is read to its end. A source could promise one more
/// block forever, and change its chain whenever the client asks for that block.
const MAX_SEARCHES: u32 = 3;

/// The most questions of one search for a common block. A source whose chain changes between
/// answers could keep a search going forever.
const MAX_PROBES: u32 = 64;

/// A source, and what is known about its chain.
#[derive(Clone, Debug)]
pub(super) struct Source {
    pub(super) state: SourceState,
    /// The newest block of its chain that is in the tree.
    pub(super) tip: Hash,
    /// The height of its newest block, as it says.
    pub(super) claim: Option<u64>,
    /// The id of that block, as it says.
    pub(super) end: Hash,
    pub(super) request: Option<(RequestId, Purpose)>,
    pub(super) search: Option<Search>,
    /// The time of the next question for its tip.
    pub(super) due: u64,
    /// The time before which it is not asked, after a failure.
    pub(super) paused: u64,
    failures: u32,
    /// Whether its chain was compared with the client's, to its end or as far as it is read.
    pub(super) is_read: bool,
    /// Whether the client could not take the block after those that it has. Until it can, one is enough.
    pub(super) is_stuck: bool,
    /// The timestamp of its next block, if that is too far ahead of the clock.
    pub(super) early: Option<u64>,
    /// The searches in a row, without its chain having been read to its end.
    searches: u32,
    /// For how long the client has waited for blocks that add nothing to its chain.
    pub(super) awaited: Wait,
    /// The number of blocks that it sent to a first start in its last turn.
    pub(super) pace: Option<u64>,
    /// The number of that turn, or of the present one. 0 if it had none.
    pub(super) turn: u64,
    /// How often the chain began with the difficulties that it stated.
    pub(super) statements: u32,
    /// How long the base has waited for it.
    pub(super) hold: Hold,
    /// The hash in work of the newest block of its side, which has no more work than the client's.
    pub(super) side: Option<(JobId, Proof)>,
    /// The last common blocks of forks that were reported, the newest last.
    pub(super) reported: VecDeque<Hash>,
    /// The last common block of a deep reorganisation that was announced.
    pub(super) announced: Option<Hash>,
}

/// For how long a source has kept the client waiting, in seconds without sleeps, since the client last waited for none.
/// So sources that take turns do not keep it waiting forever.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Wait {
    since: Option<u64>,
    before: u64,
}

impl Wait {
    /// Returns all of it.
    pub(super) fn total(self, elapsed: u64) -> u64 {
        self.before + self.since.map_or(0, |since| elapsed.saturating_sub(since))
    }

    /// Notes whether the client waits for the source now.
    pub(super) fn note(&mut self, waits: bool, elapsed: u64) {
        if waits {
            self.since.get_or_insert(elapsed);
        } else {
            *self = Wait { since: None, before: self.total(elapsed) };
        }
    }
}

/// The purpose of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    Tip,
    /// One header, to find the last common block.
    Probe {
        height: u64,
    },
    /// The headers that follow `Source::tip`.
    Extend {
        count: u64,
    },
    /// A part of the chain between the anchors.
    Anchor,
    /// Headers or difficulties that the client no longer needs, because its base moved or another
    /// source has provided them.
    Outdated,
}

/// A search for the last block that a source shares with the tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct Search {
    /// A height at which they agree. Until one was found, that of the base or of a common block.
    pub(super) low: u64,
    /// A height at which they differ.
    pub(super) high: u64,
    pub(super) found: bool,
    /// The distance of the next probe while none was found.
    step: u64,
    probes: u32,
}

impl Source {
    pub(super) fn new(base: Hash) -> Self {
        Self {
            state: SourceState::Connecting,
            tip: base,
            claim: None,
            end: base,
            request: None,
            search: None,
            due: 0,
            paused: 0,
            failures: 0,
            is_read: false,
            is_stuck: false,
            early: None,
            searches: 0,
            awaited: Wait::default(),
            pace: None,
            turn: 0,
            statements: 0,
            hold: Hold::default(),
            side: None,
            reported: VecDeque::new(),
            announced: None,
        }
    }

    /// Gives up what the source was asked for. It can have one question at a time, so the next one
    /// waits for the answer.
    pub(super) fn outdate(&mut self) {
        if let Some((_, purpose)) = &mut self.request
            && *purpose != Purpose::Tip
        {
            *purpose = Purpose::Outdated;
        }
    }

    /// Whether the source may be asked.
    pub(super) fn is_usable(&self) -> bool {
        !matches!(self.state, SourceState::Invalid { .. })
    }

    /// Whether its chain counts.
    pub(super) fn counts(&self) -> bool {
        !matches!(self.state, SourceState::Invalid { .. } | SourceState::OtherNetwork)
    }

    /// Whether its chain was compared with the client's, and it did not fall silent since.
    pub(super) fn was_read(&self) -> bool {
        self.is_read && matches!(self.state, SourceState::Following | SourceState::Behind)
    }

    /// Whether it claims to have the block of a height, which a first start reads up to.
    pub(super) fn can_provide(&self, height: u64) -> bool {
        self.counts() && self.claim.is_some_and(|claim| claim >= height)
    }

    /// Begins a search between the base and a height at which the chains differ. Returns `false` after
    /// too many of them in a row, and then begins a new row.
    pub(super) fn begin_search(&mut self, base: u64, high: u64) -> bool {
        if self.searches == MAX_SEARCHES {
            self.searches = 0;
            return false;
        }
        self.searches += 1;
        self.search = Some(Search::new(base, high));
        true
    }

    /// Notes that its chain was read to its end, or as far as it is read.
    pub(super) fn note_read(&mut self) {
        self.searches = 0;
    }

    /// Notes a usable answer.
    pub(super) fn answered(&mut self) {
        self.failures = 0;
    }

    /// Whether its last requests had no usable answer.
    pub(super) fn is_failing(&self) -> bool {
        self.failures >= PATIENCE
    }

    /// Notes a failure at `now`; returns whether the source now counts as unresponsive.
    pub(super) fn failed(&mut self, now: u64) -> bool {
        self.failures = self.failures.saturating_add(1);
        self.claim = None;
        self.early = None;
        self.search = None;
        let pause = LONGEST_PAUSE.min(1 << self.failures.min(16));
        self.paused = now.saturating_add(pause);
        self.due = self.paused;
        self.is_failing()
    }
}

impl Search {
    /// Begins a search between the base, or a common block, and a height at which the chains differ.
    pub(super) fn new(low: u64, high: u64) -> Self {
        Self { low, high, found: false, step: 1, probes: 0 }
    }

    /// Returns the next height to ask for, or `None` once the last common block is known. The base
    /// itself is not asked for: the blocks after it show whether a source has it.
    pub(super) fn probe(&self) -> Option<u64> {
        if self.high <= self.low + 1 {
            return None;
        }
        Some(if self.found {
            self.low.midpoint(self.high)
        } else {
            // Forks are short: look close first, then double the distance.
            self.high.saturating_sub(self.step).max(self.low + 1)
        })
    }

    /// Notes whether the chains agree at a height that was asked for. Returns `false` if the search
    /// takes too long.
    pub(super) fn note(&mut self, height: u64, agree: bool) -> bool {
        if agree {
            (self.low, self.found) = (height, true);
        } else {
            self.high = height;
            self.step = self.step.saturating_mul(2);
        }
        self.probes += 1;
        self.probes < MAX_PROBES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn searches_find_the_last_common_block() {
        for base in [0, 1000] {
            for common in base..base + 300 {
                for high in common + 1..base + 301 {
                    let mut search = Search::new(base, high);
                    let mut probes = 0;
                    while let Some(height) = search.probe() {
                        assert!(search.note(height, height <= common));
                        probes += 1;
                    }
                    assert_eq!(search.low, common, "base {base}, high {high}");
                    assert_eq!(search.found, common > base);
                    assert!(probes <= 20, "{probes}");
                }
            }
        }
    }

    #[test]
    fn searches_end_although_the_answers_change() {
        let mut search = Search::new(0, 1000);
        let mut probes = 1;
        while search.probe().is_some_and(|height| search.note(height, false)) {
            search.high = 1000;
            probes += 1;
        }
        assert_eq!(probes, MAX_PROBES);
    }

    #[test]
    fn pauses_grow_and_are_bounded() {
        let mut source = Source::new([0; 32]);
        assert!(!source.failed(0));
        assert!(!source.failed(0));
        assert!(source.failed(0));
        for _ in 0..100 {
            source.failed(0);
        }
        assert_eq!(source.paused, LONGEST_PAUSE);
    }
}
