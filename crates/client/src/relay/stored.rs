//! Which blocks count as final.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The blocks after a final one: a day of them.
const FINAL: u64 = 720;

/// How long a final block was stored before.
const DAY: Duration = Duration::from_secs(86_400);

/// How long blocks have been stored. A relay checks no proofs of work, so a wrong node can put any number of blocks
/// after another one, within seconds. Only an earlier run or a day makes blocks final.
pub(super) struct Stored(Mutex<State>);

struct State {
    /// The height up to which blocks are of an earlier run, or have been stored for a day.
    settled: u64,
    /// The height up to which blocks were stored at a time.
    seen: u64,
    at: Instant,
}

impl Stored {
    /// Begins with the blocks that an earlier run left, up to a height.
    pub(super) fn new(tip: u64, now: Instant) -> Stored {
        Stored(Mutex::new(State { settled: tip, seen: tip, at: now }))
    }

    /// Whether no reorganisation replaces a block, given the height of the last block.
    pub(super) fn is_final(&self, height: u64, tip: u64) -> bool {
        height <= self.lock().settled && height.saturating_add(FINAL) < tip
    }

    /// Notes the height of the last block.
    pub(super) fn note(&self, tip: u64, now: Instant) {
        let mut state = self.lock();
        if now.saturating_duration_since(state.at) >= DAY {
            (state.settled, state.seen, state.at) = (state.settled.max(state.seen), tip, now);
        }
    }

    /// Notes that the blocks from a height on were dropped.
    pub(super) fn cut(&self, height: u64) {
        let mut state = self.lock();
        let last = height.saturating_sub(1);
        (state.settled, state.seen) = (state.settled.min(last), state.seen.min(last));
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Three numbers are valid after any panic.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_final_after_a_day_and_many_others() {
        let begin = Instant::now();
        let stored = Stored::new(1000, begin);
        assert!(stored.is_final(1000, 1721) && !stored.is_final(1000, 1720));
        assert!(!stored.is_final(1001, 5000));
        stored.note(2000, begin + DAY / 2);
        assert!(!stored.is_final(1001, 5000));
        stored.note(3000, begin + DAY);
        assert!(!stored.is_final(1001, 5000));
        stored.note(4000, begin + DAY * 2);
        assert!(stored.is_final(3000, 5000) && !stored.is_final(3001, 5000));
    }

    #[test]
    fn blocks_that_replace_others_are_new() {
        let begin = Instant::now();
        let stored = Stored::new(1000, begin);
        stored.note(2000, begin + DAY);
        stored.cut(1500);
        stored.note(3000, begin + DAY * 2);
        assert!(stored.is_final(1499, 5000) && !stored.is_final(1500, 5000));
        stored.cut(900);
        assert!(!stored.is_final(900, 5000) && stored.is_final(899, 5000));
    }
}
