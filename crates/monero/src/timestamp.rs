//! The timestamp rule: not before most of the last blocks, and not in the future.

/// Blocks whose median timestamp a new one must reach.
pub const TIMESTAMP_WINDOW: usize = 60;

/// Seconds that a timestamp may be ahead of the clock: two hours.
pub const TIMESTAMP_FUTURE_LIMIT: u64 = 2 * 60 * 60;

/// The median of the last [`TIMESTAMP_WINDOW`] timestamps, given in any order: the mean of the two
/// in the middle, rounded down. With fewer of
/// them the rule demands nothing.
pub fn median_timestamp(last: &[u64; TIMESTAMP_WINDOW]) -> u64 {
    let mut sorted = *last;
    sorted.sort_unstable();
    sorted[TIMESTAMP_WINDOW / 2 - 1].midpoint(sorted[TIMESTAMP_WINDOW / 2])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_between_the_two_in_the_middle() {
        let mut last: [u64; 60] = std::array::from_fn(|index| 100 * index as u64);
        assert_eq!(median_timestamp(&last), 2950);
        last.reverse();
        assert_eq!(median_timestamp(&last), 2950);
        last[30] += 1; // 2900, which the mean rounds down
        assert_eq!(median_timestamp(&last), 2950);
        last[30] += 1;
        assert_eq!(median_timestamp(&last), 2951);
        assert_eq!(median_timestamp(&[u64::MAX; 60]), u64::MAX);
    }
}
