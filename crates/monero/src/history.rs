//! The last blocks of a chain, and the values that the rules derive from them.

use std::collections::VecDeque;

use crate::checkpoint::RecentBlock;
use crate::retarget::{DIFFICULTY_BLOCKS, DIFFICULTY_TARGET, PastBlock, next_difficulty};
use crate::timestamp::{TIMESTAMP_WINDOW, median_timestamp};

/// The last blocks, the oldest first.
#[derive(Clone, Debug)]
pub(crate) struct History {
    recent: VecDeque<RecentBlock>,
}

/// What a rule demands of the next block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Demand<T> {
    /// This value.
    Ruled(T),
    /// No value: the rule does not apply yet, or has no result.
    Nothing,
    /// Unknown, since too few blocks are known.
    Unknown,
}

impl History {
    pub(crate) fn new(recent: Vec<RecentBlock>) -> Self {
        Self { recent: recent.into() }
    }

    /// Adds a block, and keeps the last `keep`.
    pub(crate) fn push(&mut self, block: RecentBlock, keep: usize) {
        self.recent.push_back(block);
        while self.recent.len() > keep {
            self.recent.pop_front();
        }
    }

    /// Returns the blocks that the rules need, up to the one before the `newest`.
    pub(crate) fn without_newest(&self, newest: usize) -> Vec<RecentBlock> {
        let end = self.recent.len().saturating_sub(newest);
        self.recent.range(end.saturating_sub(DIFFICULTY_BLOCKS)..end).copied().collect()
    }

    /// Returns the difficulty that the rule demands of the block at a height.
    pub(crate) fn difficulty(&self, height: u64) -> Demand<u128> {
        self.difficulty_with(height, DIFFICULTY_TARGET)
    }

    /// Returns the same for a block that should take `target` seconds.
    pub(crate) fn difficulty_with(&self, height: u64, target: u64) -> Demand<u128> {
        let Some(needed) = self.needed(height, DIFFICULTY_BLOCKS) else { return Demand::Unknown };
        // The rule leaves the genesis block out.
        let genesis = usize::from(needed as u64 == height).min(needed);
        let mut sum = Some(0_u128);
        let past: Option<Vec<PastBlock>> = self
            .recent
            .range(self.recent.len() - needed + genesis..)
            .map(|block| {
                sum = sum?.checked_add(block.difficulty);
                sum.map(|cumulative_difficulty| PastBlock {
                    timestamp: block.timestamp,
                    cumulative_difficulty,
                })
            })
            .collect();
        match past.and_then(|past| next_difficulty(&past, target)) {
            Some(difficulty) => Demand::Ruled(difficulty),
            None => Demand::Nothing,
        }
    }

    /// Returns the least timestamp of the block at a height.
    pub(crate) fn median(&self, height: u64) -> Demand<u64> {
        match self.needed(height, TIMESTAMP_WINDOW) {
            None => Demand::Unknown,
            Some(needed) => {
                let last = self.recent.range(self.recent.len() - needed..);
                let last: Vec<u64> = last.map(|block| block.timestamp).collect();
                match <&[u64; TIMESTAMP_WINDOW]>::try_from(last.as_slice()) {
                    Ok(last) => Demand::Ruled(median_timestamp(last)),
                    Err(_) => Demand::Nothing,
                }
            }
        }
    }

    /// Returns how many blocks before a height a rule uses, if they are known.
    fn needed(&self, height: u64, window: usize) -> Option<usize> {
        let needed = usize::try_from(height).map_or(window, |blocks| blocks.min(window));
        (self.recent.len() >= needed).then_some(needed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history(count: u64) -> History {
        let block = |n| RecentBlock { timestamp: 120 * n, difficulty: 1000 };
        History::new((0..count).map(block).collect())
    }

    #[test]
    fn the_rule_needs_its_window_or_the_whole_chain() {
        assert_eq!(history(735).difficulty(1_000_000), Demand::Ruled(1000));
        assert_eq!(history(734).difficulty(1_000_000), Demand::Unknown);
        assert_eq!(history(734).difficulty(734), Demand::Ruled(1000));
        assert_eq!(history(3).difficulty(3), Demand::Ruled(1000));
        assert_eq!(history(2).difficulty(2), Demand::Ruled(1));
        assert_eq!(history(0).difficulty(0), Demand::Ruled(1));
        assert_eq!(history(2).difficulty(3), Demand::Unknown);
    }

    #[test]
    fn the_genesis_block_is_left_out() {
        // Its timestamp is far from the others, so that including it would show.
        for height in [3, 100, 600, 735] {
            let late = |n| RecentBlock { timestamp: 1_000_000 + 120 * n, difficulty: 1000 };
            let mut recent: Vec<_> = (0..height).map(late).collect();
            recent[0].timestamp = 0;
            let history = History::new(recent);
            assert_eq!(history.difficulty(height), Demand::Ruled(1000), "height {height}");
        }
    }

    #[test]
    fn the_median_covers_the_last_sixty() {
        assert_eq!(history(60).median(60), Demand::Ruled(60 * 59));
        assert_eq!(history(100).median(100), Demand::Ruled(60 * (40 + 99)));
        assert_eq!(history(59).median(59), Demand::Nothing);
        assert_eq!(history(59).median(60), Demand::Unknown);
    }

    #[test]
    fn difficulties_that_overflow_have_no_successor() {
        let block = RecentBlock { timestamp: 0, difficulty: u128::MAX };
        assert_eq!(History::new(vec![block; 735]).difficulty(10_000), Demand::Nothing);
    }

    #[test]
    fn the_newest_can_be_left_out() {
        let mut history = history(735);
        for n in 735..740 {
            history.push(RecentBlock { timestamp: n, difficulty: 1 }, 740);
        }
        let before = history.without_newest(5);
        assert_eq!((before.len(), before[734].timestamp), (735, 120 * 734));
        assert_eq!(history.without_newest(0)[734].timestamp, 739);
    }
}
