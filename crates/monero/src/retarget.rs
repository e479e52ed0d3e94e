//! The difficulty rule: the difficulty that the network demands of the next block.

/// The number of blocks that the rule uses.
pub const DIFFICULTY_WINDOW: usize = 720;

/// The number of newest blocks that the rule leaves out.
pub const DIFFICULTY_LAG: usize = 15;

/// The number of timestamps cut from each end of a full window after sorting.
pub const DIFFICULTY_CUT: usize = 60;

/// The time that a block should take, in seconds, since major version 2.
pub const DIFFICULTY_TARGET: u64 = 120;

/// The number of blocks that must be known: [`DIFFICULTY_WINDOW`] and [`DIFFICULTY_LAG`].
pub const DIFFICULTY_BLOCKS: usize = DIFFICULTY_WINDOW + DIFFICULTY_LAG;

/// An earlier block, as the difficulty rule needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PastBlock {
    /// In seconds since 1970.
    pub timestamp: u64,
    /// The sum of difficulties up to this block. The rule uses only differences.
    pub cumulative_difficulty: u128,
}

/// Returns the difficulty of the block after `past`: the last [`DIFFICULTY_BLOCKS`] blocks in order,
/// or all of a shorter chain without its genesis block, which Monero leaves out.
///
/// The rule takes the oldest [`DIFFICULTY_WINDOW`] of them, sorts their timestamps, cuts both ends,
/// and divides the work of the rest by its time, rounded up.
///
/// Returns `None` where Monero finds no difficulty either: above 128 bits, or if cumulative
/// difficulties fall.
///
/// ```
/// use randomx_monero::{DIFFICULTY_TARGET, PastBlock, next_difficulty};
///
/// // A block of difficulty 1,000 a minute: twice as fast as the target.
/// let past: Vec<_> = (1..=735)
///     .map(|n| PastBlock { timestamp: 60 * n, cumulative_difficulty: 1000 * u128::from(n) })
///     .collect();
/// assert_eq!(next_difficulty(&past, DIFFICULTY_TARGET), Some(2000));
/// ```
pub fn next_difficulty(past: &[PastBlock], target: u64) -> Option<u128> {
    let window = &past[..past.len().min(DIFFICULTY_WINDOW)];
    let mut timestamps: Vec<u64> = window.iter().map(|block| block.timestamp).collect();
    timestamps.sort_unstable();
    difficulty_after(&timestamps, |index| window[index].cumulative_difficulty, target)
}

/// Returns the same, given the window's sorted timestamps and the cumulative difficulty of its block
/// at an index.
pub(crate) fn difficulty_after(
    timestamps: &[u64],
    cumulative_difficulty: impl Fn(usize) -> u128,
    target: u64,
) -> Option<u128> {
    if timestamps.len() <= 1 {
        return Some(1);
    }
    let (first, last) = kept(timestamps.len());
    let time = u128::from((timestamps[last] - timestamps[first]).max(1));
    let work = cumulative_difficulty(last)
        .checked_sub(cumulative_difficulty(first))
        .filter(|&work| work > 0)?;
    // Work times target may exceed 128 bits where the quotient does not. The remainder times the
    // target has at most 128.
    let (quotient, remainder, target) = (work / time, work % time, u128::from(target));
    quotient.checked_mul(target)?.checked_add((remainder * target).div_ceil(time))
}

/// Returns the first and the last index kept of a window of at least 2 blocks.
fn kept(length: usize) -> (usize, usize) {
    const KEPT: usize = DIFFICULTY_WINDOW - 2 * DIFFICULTY_CUT;
    if length <= KEPT {
        (0, length - 1)
    } else {
        let first = (length - KEPT).div_ceil(2);
        (first, first + KEPT - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steady(count: usize, seconds: u64, difficulty: u128) -> Vec<PastBlock> {
        (1..=count as u64)
            .map(|n| PastBlock {
                timestamp: seconds * n,
                cumulative_difficulty: difficulty * u128::from(n),
            })
            .collect()
    }

    #[test]
    fn the_first_blocks_demand_one() {
        assert_eq!(next_difficulty(&[], 120), Some(1));
        assert_eq!(next_difficulty(&steady(1, 5, 1_000_000), 120), Some(1));
    }

    #[test]
    fn blocks_on_time_keep_the_difficulty() {
        for count in [2, 3, 599, 600, 601, 602, 719, 720, 721, 735] {
            assert_eq!(next_difficulty(&steady(count, 120, 1000), 120), Some(1000), "{count}");
            assert_eq!(next_difficulty(&steady(count, 240, 1000), 120), Some(500), "{count}");
        }
    }

    #[test]
    fn windows_are_cut_at_both_ends() {
        assert_eq!(kept(2), (0, 1));
        assert_eq!(kept(600), (0, 599));
        assert_eq!(kept(601), (1, 600));
        assert_eq!(kept(602), (1, 600));
        assert_eq!(kept(720), (60, 659));
    }

    #[test]
    fn the_newest_fifteen_do_not_count() {
        let mut past = steady(735, 120, 1000);
        for block in &mut past[720..] {
            block.timestamp = u64::MAX;
            block.cumulative_difficulty = u128::MAX;
        }
        assert_eq!(next_difficulty(&past, 120), Some(1000));
    }

    #[test]
    fn quotients_are_rounded_up_and_time_is_at_least_a_second() {
        let past = |time: u64, work: u128| {
            [
                PastBlock { timestamp: 100, cumulative_difficulty: 5 },
                PastBlock { timestamp: 100 + time, cumulative_difficulty: 5 + work },
            ]
        };
        assert_eq!(next_difficulty(&past(7, 1), 120), Some(18));
        assert_eq!(next_difficulty(&past(0, 9), 120), Some(1080));
        assert_eq!(next_difficulty(&past(u64::MAX - 100, 1), 120), Some(1));
    }

    #[test]
    fn falling_work_and_overflow_have_no_difficulty() {
        let past = |first: u128, second: u128| {
            [first, second]
                .map(|cumulative_difficulty| PastBlock { timestamp: 0, cumulative_difficulty })
        };
        assert_eq!(next_difficulty(&past(5, 5), 120), None);
        assert_eq!(next_difficulty(&past(6, 5), 120), None);
        assert_eq!(next_difficulty(&past(0, u128::MAX), 120), None);
        let greatest = u128::MAX / 120;
        assert_eq!(next_difficulty(&past(0, greatest), 120), Some(greatest * 120));
        assert_eq!(next_difficulty(&past(0, greatest + 1), 120), None);
    }
}
