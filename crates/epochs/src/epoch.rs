//! Epochs: the rows that one task hashes with one key.

use std::fmt;
use std::ops::RangeInclusive;

use randomx_monero::{Hash, SEED_EPOCH_BLOCKS, SEED_EPOCH_LAG, seed_height};
use serde::{Deserialize, Serialize};

/// The rows that are hashed together, in the order in which epochs are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Epoch {
    /// The blocks whose key is the id of the block at this height.
    Height(u64),
    /// The rows without a height, by their seed hash.
    Seed(Hash),
    /// The rows with neither.
    Unknown,
}

impl Epoch {
    /// Returns the epoch of a block.
    pub fn of_height(height: u64) -> Epoch {
        Epoch::Height(seed_height(height))
    }

    /// Returns the epoch of a row.
    pub fn of(height: Option<u64>, seed_hash: Option<Hash>) -> Epoch {
        match (height, seed_hash) {
            (Some(height), _) => Epoch::of_height(height),
            (None, Some(seed_hash)) => Epoch::Seed(seed_hash),
            (None, None) => Epoch::Unknown,
        }
    }

    /// Returns the heights of the epoch's blocks. Other epochs have none.
    pub fn heights(&self) -> Option<RangeInclusive<u64>> {
        let Epoch::Height(seed) = *self else { return None };
        let first = if seed == 0 { 0 } else { seed.saturating_add(SEED_EPOCH_LAG + 1) };
        Some(first..=seed.saturating_add(SEED_EPOCH_BLOCKS + SEED_EPOCH_LAG))
    }

    /// Returns the blocks that a task's [`label`] names, if they are of this epoch.
    pub fn labelled(&self, label: &str) -> Option<RangeInclusive<u64>> {
        let (first, last) = label.strip_prefix("blocks ")?.split_once(" to ")?;
        let blocks = first.parse().ok()?..=last.parse().ok()?;
        (!blocks.is_empty() && contains(&self.heights()?, &blocks)).then_some(blocks)
    }

    /// Returns the name of the epoch's file.
    pub fn file(&self) -> String {
        format!("{self}.parquet")
    }

    /// Returns the epochs of a range of blocks, each with its part of the range.
    pub fn within(range: RangeInclusive<u64>) -> Vec<(Epoch, RangeInclusive<u64>)> {
        let (mut first, last) = range.into_inner();
        let mut epochs = Vec::new();
        while first <= last {
            let epoch = Epoch::of_height(first);
            let end = epoch.heights().map_or(last, |heights| last.min(*heights.end()));
            epochs.push((epoch, first..=end));
            let Some(next) = end.checked_add(1) else { break };
            first = next;
        }
        epochs
    }
}

/// Returns what distinguishes blocks from others of their epoch.
pub fn label(heights: &RangeInclusive<u64>) -> String {
    format!("blocks {} to {}", heights.start(), heights.end())
}

/// Whether blocks have all of the others.
pub fn contains(blocks: &RangeInclusive<u64>, others: &RangeInclusive<u64>) -> bool {
    blocks.contains(others.start()) && blocks.contains(others.end())
}

impl fmt::Display for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Epoch::Height(height) => write!(f, "epoch-{height:010}"),
            Epoch::Seed(seed_hash) => write!(f, "seed-{}", hex::encode(seed_hash)),
            Epoch::Unknown => f.write_str("unknown"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_divided_where_the_key_changes() {
        let within = |range| {
            Epoch::within(range)
                .into_iter()
                .map(|(epoch, part)| (epoch, *part.start(), *part.end()))
                .collect::<Vec<_>>()
        };
        let [a, b, c] = [0, 2048, 4096].map(Epoch::Height);
        assert_eq!(within(0..=2112), [(a, 0, 2112)]);
        assert_eq!(within(2112..=2113), [(a, 2112, 2112), (b, 2113, 2113)]);
        assert_eq!(within(1..=4161), [(a, 1, 2112), (b, 2113, 4160), (c, 4161, 4161)]);
        assert_eq!(within(u64::MAX..=u64::MAX).len(), 1);
    }

    #[test]
    fn every_block_is_in_its_epoch() {
        for height in (0..20_000).chain([u64::MAX - 1, u64::MAX]) {
            let heights = Epoch::of_height(height).heights().expect("heights");
            assert!(heights.contains(&height), "{height}");
        }
    }

    #[test]
    fn labels_name_blocks_of_their_epoch() {
        let epoch = Epoch::Height(2048);
        for heights in [2113..=4160, 2113..=2113, 3000..=4000] {
            assert_eq!(epoch.labelled(&label(&heights)), Some(heights));
        }
        for other in [
            "all",
            "blocks 2112 to 4160",
            "blocks 4000 to 4161",
            "blocks 4000 to 3000",
            "blocks 2113",
        ] {
            assert_eq!(epoch.labelled(other), None, "{other}");
        }
        assert_eq!(Epoch::Unknown.labelled("blocks 1 to 2"), None);
    }

    #[test]
    fn names_sort_like_epochs() {
        let mut epochs = [
            Epoch::Unknown,
            Epoch::Seed([0; 32]),
            Epoch::Height(1 << 20),
            Epoch::Height(0),
            Epoch::of(Some(3000), Some([1; 32])),
        ];
        epochs.sort();
        let names: Vec<String> = epochs.iter().map(Epoch::file).collect();
        assert!(names.is_sorted(), "{names:?}");
        assert_eq!(names[1], "epoch-0000002048.parquet");
    }
}
