//! How long the base has waited for a source.

use super::Config;

/// The time that a source has, in seconds, while the base waits for it.
const PATIENCE: u64 = 600;

/// How many times faster this time passes while the source's requests fail.
const FAILING: u64 = 10;

/// The reason why the base waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pace {
    /// The hashes of the source's chain, which has more work.
    Hashing,
    /// The source's answers.
    Answering,
    /// The source, whose requests fail.
    Failing,
}

/// How long the base has waited for a source.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hold {
    /// While the base waits, the time up to which `waited` counts.
    counted: Option<u64>,
    /// The seconds that the base has waited.
    waited: u64,
    /// The number of new blocks that the source has shown meanwhile.
    shown: u64,
    /// Whether the last common block was searched for since the source last showed blocks.
    searched: bool,
}

impl Hold {
    /// Counts the time since the last call, at which the base began to wait or still did. Returns
    /// whether it goes on to wait.
    pub(super) fn wait(&mut self, elapsed: u64, pace: Pace) -> bool {
        let since = self.counted.replace(elapsed).unwrap_or(elapsed);
        let rate = match pace {
            Pace::Hashing => 0,
            Pace::Answering => 1,
            Pace::Failing => FAILING,
        };
        self.waited =
            self.waited.saturating_add(elapsed.saturating_sub(since).saturating_mul(rate));
        if self.waited >= PATIENCE + self.shown {
            self.end();
        }
        self.is_waiting()
    }

    /// Notes that the base does not wait for the source.
    pub(super) fn end(&mut self) {
        self.counted = None;
    }

    pub(super) fn is_waiting(&self) -> bool {
        self.counted.is_some()
    }

    /// Returns whether to search for the last common block, and notes that this is done.
    pub(super) fn begin_search(&mut self) -> bool {
        !std::mem::replace(&mut self.searched, true)
    }

    /// Notes that a source has sent blocks, some of them new.
    pub(super) fn note_blocks(&mut self, new: usize, config: &Config) {
        self.searched = false;
        if self.is_waiting() {
            self.shown = self.shown.saturating_add(new as u64).min(config.ahead() as u64);
        }
    }

    /// Notes that a search for the last common block was given up.
    pub(super) fn give_up_search(&mut self) {
        self.searched = false;
    }
}
