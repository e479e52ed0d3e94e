//! Whether the newest verified block is the newest of the chain, as far as the sources show.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use randomx_monero::Hash;

/// For how many seconds a tip is shown although no source was followed: five blocks on average.
pub(crate) const LAG: u64 = 600;

/// How many seconds the sources have at least to show newer blocks after a break.
const WAIT: u64 = 120;

/// The number of requests without an answer after which a source counts as unresponsive, and the seconds
/// of the pauses between them.
const TRIES: u64 = 3;
const PAUSES: u64 = 10;

/// The state of the client after a step.
#[derive(Clone, Copy)]
pub(crate) struct Seen {
    /// The id of the newest verified block, and its timestamp.
    pub(crate) tip: Option<(Hash, u64)>,
    /// Whether the chain of a source was read.
    pub(crate) is_followed: bool,
    /// Whether the chains of all sources that answer were read.
    pub(crate) is_settled: bool,
}

/// Notes when the chain was followed.
pub(crate) struct Following {
    /// How many seconds the sources have to show newer blocks after a break.
    wait: u64,
    /// The time of the last step.
    last: Option<u64>,
    /// The last time at which the chain was followed, unless it has to be read anew.
    followed: Option<u64>,
    /// The time from which it is read.
    begin: u64,
    /// The tip before the break, unless the chain is read for the first time in this run.
    before: Option<Option<Hash>>,
}

impl Following {
    /// Returns notes about a chain that was not followed yet. A source is asked every `poll` seconds, and
    /// has the time `timeout` for an answer.
    pub(crate) fn new(poll: u64, timeout: Duration) -> Following {
        // A source that cannot be reached after a break still looks followed until it was asked a few
        // times.
        let wait = WAIT.max(poll + TRIES * timeout.as_secs() + PAUSES);
        Following { wait, last: None, followed: None, begin: 0, before: None }
    }

    /// Notes a step. Returns the last time at which the chain was followed, or `None` before it was read
    /// to its end: at the start, and after a break.
    pub(crate) fn note(&mut self, now: u64, seen: Seen) -> Option<u64> {
        let is_old = |time: u64| now.saturating_sub(time) > LAG;
        // A computer that slept still has the answers from before.
        if self.last.is_none_or(is_old) || self.followed.is_some_and(is_old) {
            self.before = self.last.map(|_| seen.tip.map(|(id, _)| id));
            (self.begin, self.followed) = (now, None);
        }
        self.last = Some(now);
        if seen.is_followed && (self.followed.is_some() || self.is_read(now, seen)) {
            self.followed = Some(now);
        }
        self.followed
    }

    /// Whether the chain was read to its end since `begin`.
    fn is_read(&self, now: u64, seen: Seen) -> bool {
        let Some((id, timestamp)) = seen.tip else { return false };
        let waited = now.saturating_sub(self.begin) >= self.wait;
        // A source can promise blocks for an hour. It cannot make a tip look new.
        let is_new = now.saturating_sub(timestamp) <= LAG;
        // All answers are from this run at first. Those from before a break can lead to another tip too,
        // such as a block that was being hashed, so only a new one shows that sources were asked since.
        let is_current = self.before.is_none_or(|before| before != Some(id) && is_new);
        seen.is_settled && (is_current || waited) || waited && is_new
    }
}

/// Returns the seconds since 1970.
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: u64 = 1_700_000_000;

    /// A state with an old tip.
    const SETTLED: Seen =
        Seen { tip: Some(([1; 32], START - 7200)), is_followed: true, is_settled: true };
    const READING: Seen = Seen { is_settled: false, ..SETTLED };
    const SILENT: Seen = Seen { is_followed: false, ..SETTLED };

    fn new() -> Following {
        Following::new(1, Duration::from_secs(2))
    }

    /// Returns what follows a chain since some seconds.
    fn followed(seconds: u64) -> Following {
        let mut following = new();
        for second in 0..=seconds {
            assert_eq!(following.note(START + second, SETTLED), Some(START + second));
        }
        following
    }

    #[test]
    fn a_stored_tip_waits_for_the_sources() {
        let mut following = new();
        let nothing = Seen { tip: None, ..SETTLED };
        for (second, seen) in [SILENT, READING, nothing, READING].into_iter().enumerate() {
            assert_eq!(following.note(START + second as u64, seen), None);
        }
        assert_eq!(following.note(START + 4, SETTLED), Some(START + 4));
    }

    #[test]
    fn a_computer_that_slept_reads_the_chain_anew() {
        let mut following = followed(100);
        let wake = START + 100 + 8 * 3600;
        // The sources' last answers are old, though all of them were read.
        for second in 0..5 {
            assert_eq!(following.note(wake + second, SETTLED), None);
        }
        assert_eq!(following.note(wake + 5, READING), None);
        // This block was being hashed before.
        let hashed = Seen { tip: Some(([2; 32], START + 100)), ..SETTLED };
        assert_eq!(following.note(wake + 6, hashed), None);
        let news = Seen { tip: Some(([3; 32], wake - 300)), ..SETTLED };
        assert_eq!(following.note(wake + 7, Seen { is_settled: false, ..news }), None);
        assert_eq!(following.note(wake + 8, news), Some(wake + 8));
    }

    #[test]
    fn a_block_from_before_a_sleep_waits_for_the_sources() {
        let mut following = followed(100);
        let wake = START + 100 + LAG + 1;
        let hashed = Seen { tip: Some(([2; 32], START + 100)), ..SETTLED };
        for second in 0..WAIT {
            assert_eq!(following.note(wake + second, hashed), None);
        }
        assert_eq!(following.note(wake + WAIT, hashed), Some(wake + WAIT));
        // The same in a sleep before any block was verified.
        let mut following = new();
        assert_eq!(following.note(START, Seen { tip: None, ..READING }), None);
        let wake = START + 8 * 3600;
        assert_eq!(following.note(wake, Seen { tip: None, ..READING }), None);
        for second in 1..WAIT {
            assert_eq!(following.note(wake + second, hashed), None);
        }
        assert_eq!(following.note(wake + WAIT, hashed), Some(wake + WAIT));
    }

    #[test]
    fn sources_that_hang_after_a_sleep_are_not_followed_to_an_old_tip() {
        let mut following =
            Following { last: Some(START), ..Following::new(10, Duration::from_secs(60)) };
        let wake = START + 8 * 3600;
        // Each counts as followed until three requests had no answer.
        for second in 0..3 * 60 + 6 + 10 {
            assert_eq!(following.note(wake + second, SETTLED), None);
        }
        assert_eq!(following.note(wake + 200, SILENT), None);
    }

    #[test]
    fn a_short_sleep_without_a_new_block_ends_too() {
        let mut following = followed(0);
        let wake = START + LAG + 1;
        for second in 0..WAIT {
            assert_eq!(following.note(wake + second, SETTLED), None);
        }
        assert_eq!(following.note(wake + WAIT, SETTLED), Some(wake + WAIT));
    }

    #[test]
    fn sources_that_fall_silent_are_noticed_and_short_breaks_are_not() {
        let mut following = followed(0);
        for second in 1..=LAG {
            assert_eq!(following.note(START + second, SILENT), Some(START));
        }
        assert_eq!(following.note(START + LAG + 1, SILENT), None);
        assert_eq!(following.note(START + LAG + 2, READING), None);
        let news = Seen { tip: Some(([2; 32], START + 300)), ..SETTLED };
        assert_eq!(following.note(START + LAG + 3, news), Some(START + LAG + 3));

        let mut following = followed(0);
        following.note(START + LAG, SILENT);
        assert_eq!(following.note(START + LAG + 1, SETTLED), None);
        let mut following = followed(0);
        assert_eq!(following.note(START + LAG, SETTLED), Some(START + LAG));
    }

    #[test]
    fn new_blocks_in_work_are_an_ordinary_lag() {
        let mut following = followed(0);
        for second in 1..3 * LAG {
            assert_eq!(following.note(START + second, READING), Some(START + second));
        }
    }

    #[test]
    fn a_source_that_promises_blocks_does_not_hide_a_new_tip() {
        let mut following = new();
        let recent = Seen { tip: Some(([2; 32], START)), ..READING };
        for second in 0..WAIT {
            assert_eq!(following.note(START + second, recent), None);
        }
        assert_eq!(following.note(START + WAIT, recent), Some(START + WAIT));
        let mut following = new();
        for second in 0..2 * WAIT {
            assert_eq!(following.note(START + second, READING), None);
        }
    }

    #[test]
    fn clocks_may_be_set_back() {
        let mut following = followed(10);
        assert_eq!(following.note(START - 7200, SETTLED), Some(START - 7200));
    }
}
