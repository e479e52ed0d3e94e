//! Requests for headers, which count for a while.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::segment::SEGMENT;

/// How long a request counts. Wallets repeat theirs every one or two minutes while the headers are read.
pub(super) const COUNTS: Duration = Duration::from_secs(600);

/// The heights from which requests need headers, each with the time of the last such request. Both ascend: a
/// later request for lower headers needs the higher ones too. Of each segment there is one height at most.
#[derive(Default)]
pub(super) struct Wants(VecDeque<(u64, Instant)>);

impl Wants {
    /// Notes a request for the headers from a height on.
    pub(super) fn note(&mut self, mut height: u64, now: Instant) {
        while self.0.front().is_some_and(|(_, time)| !counts(*time, now)) {
            self.0.pop_front();
        }
        while let Some(&(other, _)) = self.0.back()
            && other / SEGMENT >= height / SEGMENT
        {
            self.0.pop_back();
            height = height.min(other);
        }
        self.0.push_back((height, now));
    }

    /// Returns the lowest height of the requests that count.
    pub(super) fn lowest(&self, now: Instant) -> Option<u64> {
        self.0.iter().find(|(_, time)| counts(*time, now)).map(|(height, _)| *height)
    }
}

fn counts(time: Instant, now: Instant) -> bool {
    now.saturating_duration_since(time) <= COUNTS
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    #[test]
    fn a_request_counts_until_it_was_not_repeated_for_a_while() {
        let (mut wants, begun) = (Wants::default(), Instant::now());
        assert_eq!(wants.lowest(begun), None);
        wants.note(1, begun);
        for minute in 1..30 {
            let now = begun + minute * MINUTE;
            wants.note(40 * SEGMENT, now);
            let expected = if now <= begun + COUNTS { 1 } else { 40 * SEGMENT };
            assert_eq!(wants.lowest(now), Some(expected), "{minute}");
        }
        assert_eq!(wants.lowest(begun + 29 * MINUTE + COUNTS), Some(40 * SEGMENT));
        assert_eq!(wants.lowest(begun + 30 * MINUTE + COUNTS), None);
    }

    #[test]
    fn a_scan_upwards_needs_less_and_less() {
        let (mut wants, begun) = (Wants::default(), Instant::now());
        for segment in 0..100 {
            let now = begun + u32::try_from(segment).expect("a number") * MINUTE;
            // Upwards in each segment, as wallets do, which adds nothing.
            for height in [7, 1007, 2007] {
                wants.note(segment * SEGMENT + height, now);
            }
            assert_eq!(wants.lowest(now), Some(segment.saturating_sub(10) * SEGMENT + 7));
            assert!(wants.0.len() <= 11, "{}", wants.0.len());
        }
    }
}
