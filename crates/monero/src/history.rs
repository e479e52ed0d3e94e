//! The last blocks of a chain, and the values that the rules derive from them.

use std::collections::VecDeque;
use std::ops::Range;

use crate::checkpoint::{MAX_WORK, RecentBlock};
use crate::retarget::{DIFFICULTY_BLOCKS, DIFFICULTY_TARGET, DIFFICULTY_WINDOW, difficulty_after};
use crate::timestamp::{TIMESTAMP_WINDOW, median_timestamp};

/// The last blocks, the oldest first.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    recent: VecDeque<Past>,
    /// The number of blocks that were dropped before them.
    dropped: usize,
    window: Window,
}

/// A block, and the sum of the difficulties up to it, counted from the history's first block. `None`
/// if the sum exceeds 128 bits.
#[derive(Clone, Copy, Debug)]
struct Past {
    block: RecentBlock,
    work: Option<u128>,
}

/// The sorted timestamps of the blocks that the difficulty rule used last. The next block's differ by
/// one or two, so sorting all of them again would take most of the time of reading a header.
#[derive(Clone, Debug, Default)]
struct Window {
    /// The blocks, counted from the history's first one.
    blocks: Range<usize>,
    timestamps: Vec<u64>,
}

/// The value that a rule demands of the next block.
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
        let mut history = Self::default();
        let count = recent.len();
        recent.into_iter().for_each(|block| history.push(block, count));
        history
    }

    /// Adds a block, and keeps the last `keep`.
    pub(crate) fn push(&mut self, block: RecentBlock, keep: usize) {
        let before = self.recent.back().map_or(Some(0), |past| past.work);
        let work = before.and_then(|work| work.checked_add(block.difficulty));
        self.recent.push_back(Past { block, work });
        while self.recent.len() > keep {
            if let Some(Past { block, .. }) = self.recent.pop_front() {
                self.window.drop_before(self.dropped + 1, |_| block.timestamp);
                self.dropped += 1;
            }
        }
    }

    /// Adds a block's difficulty to the work of the chain before it. `None` if no chain can have so
    /// much.
    pub(crate) fn work_with(&self, work: u128, difficulty: u128) -> Option<u128> {
        // The work before the history's first block may be unknown.
        let counted = self.recent.back().map_or(Some(0), |past| past.work)?;
        let total = work.max(counted).checked_add(difficulty)?;
        (total <= MAX_WORK).then(|| work + difficulty)
    }

    /// Returns the blocks that the rules need, up to the one before the `newest`.
    pub(crate) fn without_newest(&self, newest: usize) -> Vec<RecentBlock> {
        let end = self.recent.len().saturating_sub(newest);
        let needed = self.recent.range(end.saturating_sub(DIFFICULTY_BLOCKS)..end);
        needed.map(|past| past.block).collect()
    }

    /// Returns the difficulty that the rule demands of the block at a height.
    pub(crate) fn difficulty(&mut self, height: u64) -> Demand<u128> {
        self.difficulty_with(height, DIFFICULTY_TARGET)
    }

    /// Returns the same for a block that should take `target` seconds.
    pub(crate) fn difficulty_with(&mut self, height: u64, target: u64) -> Demand<u128> {
        let Some(needed) = self.needed(height, DIFFICULTY_BLOCKS) else { return Demand::Unknown };
        // The rule leaves the genesis block out.
        let genesis = usize::from(needed as u64 == height).min(needed);
        let Self { recent, dropped, window } = self;
        if recent.back().is_some_and(|newest| newest.work.is_none()) {
            return Demand::Nothing;
        }
        let first = recent.len() - needed + genesis;
        let end = recent.len().min(first + DIFFICULTY_WINDOW);
        window.slide(*dropped + first..*dropped + end, |block| {
            recent[block - *dropped].block.timestamp
        });
        let work = |index| recent[first + index].work.unwrap_or(u128::MAX);
        match difficulty_after(&window.timestamps, work, target) {
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
                let last: Vec<u64> = last.map(|past| past.block.timestamp).collect();
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

impl Window {
    /// Moves to these blocks.
    fn slide(&mut self, blocks: Range<usize>, timestamp: impl Fn(usize) -> u64) {
        let Range { start, end } = self.blocks;
        if blocks.start < start || blocks.end < end || blocks.start > end {
            self.timestamps = blocks.clone().map(timestamp).collect();
            self.timestamps.sort_unstable();
            self.blocks = blocks;
            return;
        }
        self.drop_before(blocks.start, &timestamp);
        for block in end..blocks.end {
            let timestamp = timestamp(block);
            let at = self.timestamps.partition_point(|&other| other < timestamp);
            self.timestamps.insert(at, timestamp);
        }
        self.blocks = blocks;
    }

    /// Drops the blocks before one.
    fn drop_before(&mut self, first: usize, timestamp: impl Fn(usize) -> u64) {
        let end = first.min(self.blocks.end);
        for block in self.blocks.start..end {
            let timestamp = timestamp(block);
            let at = self.timestamps.partition_point(|&other| other < timestamp);
            self.timestamps.remove(at);
        }
        self.blocks.start = end.max(self.blocks.start);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::retarget::{PastBlock, next_difficulty};

    /// The rule for the window as a whole, which the history computes step by step.
    fn by_definition(chain: &[RecentBlock]) -> Option<u128> {
        let first = chain.len().saturating_sub(DIFFICULTY_BLOCKS).max(1);
        let mut cumulative_difficulty = 0;
        let past: Vec<PastBlock> = chain[first..]
            .iter()
            .map(|block| {
                cumulative_difficulty += block.difficulty;
                PastBlock { timestamp: block.timestamp, cumulative_difficulty }
            })
            .collect();
        next_difficulty(&past, DIFFICULTY_TARGET)
    }

    #[test]
    fn a_window_slides_in_both_directions() {
        let timestamp = |block: usize| (block as u64 * 7919) % 1000;
        let mut window = Window::default();
        for (start, end) in
            [(0, 5), (2, 8), (1, 8), (1, 6), (0, 4), (4, 6), (20, 30), (3, 9), (3, 9)]
        {
            window.slide(start..end, timestamp);
            let mut expected: Vec<u64> = (start..end).map(timestamp).collect();
            expected.sort_unstable();
            assert_eq!(window.timestamps, expected, "{start} to {end}");
        }
    }

    #[test]
    fn difficulties_step_by_step_are_those_of_the_whole_window() {
        // The last one is the number of blocks that wait for their hashes in a chain.
        for keep in [DIFFICULTY_BLOCKS, DIFFICULTY_BLOCKS + 7] {
            let (mut history, mut chain) = (History::default(), Vec::new());
            let mut random = 1_u64;
            for height in 0..2000_u64 {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                // Out of order, some equal, and some far from all others.
                let jitter =
                    [random >> 54, 0, (random >> 50) % 100_000][(random >> 33) as usize % 3];
                let block = RecentBlock {
                    timestamp: 1_000_000 + 60 * height + jitter,
                    difficulty: 1 + u128::from(random >> 40),
                };
                chain.push(block);
                history.push(block, keep);
                // Not every block is asked for.
                if random >> 60 != 0 {
                    let expected = by_definition(&chain).expect("a difficulty");
                    assert_eq!(history.difficulty(height + 1), Demand::Ruled(expected), "{height}");
                }
            }
            let mut again = History::new(chain[chain.len() - DIFFICULTY_BLOCKS..].to_vec());
            assert_eq!(again.difficulty(2000), history.difficulty(2000));
        }
    }

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
            let mut history = History::new(recent);
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
