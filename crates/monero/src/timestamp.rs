//! The timestamp rules: at least the median of the last blocks, and not in the future.

/// The number of blocks whose median timestamp is the least a new block may have.
pub const TIMESTAMP_WINDOW: usize = 60;

/// The number of seconds that a timestamp may be ahead of the clock: two hours.
pub const TIMESTAMP_FUTURE_LIMIT: u64 = 2 * 60 * 60;

/// Returns the median of the last [`TIMESTAMP_WINDOW`] timestamps, in any order: the mean of the two
/// in the middle, rounded down. Chains with fewer blocks have no such rule.
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
        last[30] += 1; // 2900; the mean is rounded down
        assert_eq!(median_timestamp(&last), 2950);
        last[30] += 1;
        assert_eq!(median_timestamp(&last), 2951);
        assert_eq!(median_timestamp(&[u64::MAX; 60]), u64::MAX);
    }
}
