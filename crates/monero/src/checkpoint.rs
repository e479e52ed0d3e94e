//! Checkpoints: the part of a chain's past that the rules need to judge the next blocks.

use std::{error, fmt};

use crate::anchor::Anchor;
use crate::hash::Hash;
use crate::network::Network;
use crate::retarget::DIFFICULTY_BLOCKS;
use crate::seed::{SEED_EPOCH_BLOCKS, seed_height};
use crate::timestamp::{TIMESTAMP_WINDOW, median_timestamp};

/// The greatest height that Monero's software supports.
pub const MAX_HEIGHT: u64 = 500_000_000;

/// The most work that a chain can have. That of the main network will stay far below.
pub(crate) const MAX_WORK: u128 = u128::MAX / 2;

/// The part of an anchors' average difficulty below which a checkpoint's is implausible.
const IMPLAUSIBLE_PART: u128 = 100;

/// A trusted chain up to a block, as far as the rules need it to judge the blocks after it.
///
/// Some 40 KB as JSON. Anyone who can change a stored checkpoint chooses the chain that is accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// The height of the last block.
    pub height: u64,
    /// Its id.
    pub id: Hash,
    /// The chain's work: the sum of difficulties from the genesis block to this one. 0 if it is
    /// unknown.
    pub work: u128,
    /// The last [`DIFFICULTY_BLOCKS`] blocks up to this one, the oldest first, or all of a shorter
    /// chain, including the genesis block. With fewer, the checkpoint is incomplete.
    pub recent: Vec<RecentBlock>,
    /// The blocks whose ids are keys of the next blocks, the oldest first.
    pub seeds: Vec<Seed>,
}

/// An earlier block, as the rules for difficulty and time need it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecentBlock {
    /// In seconds since 1970.
    pub timestamp: u64,
    /// The difficulty that the block had to meet.
    pub difficulty: u128,
}

/// A block whose id is a RandomX key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seed {
    /// Its height, a multiple of [`SEED_EPOCH_BLOCKS`].
    pub height: u64,
    /// Its id: the seed hash.
    pub id: Hash,
}

impl Checkpoint {
    /// The most seeds of a checkpoint: for the next blocks, and for those after the next change of
    /// keys.
    pub const MAX_SEEDS: usize = 2;

    /// Returns the start of a network's chain.
    pub fn genesis(network: Network) -> Self {
        let id = network.genesis_id();
        Self {
            height: 0,
            id,
            work: 1,
            recent: vec![RecentBlock { timestamp: 0, difficulty: 1 }],
            seeds: vec![Seed { height: 0, id }],
        }
    }

    /// Whether the difficulties and seed hashes of the next blocks follow from the checkpoint.
    pub fn is_complete(&self) -> bool {
        let knows = |height| self.seeds.iter().any(|seed| seed.height == height);
        self.recent.len() as u64 == blocks_needed(self.height)
            && knows(seed_height(self.height.saturating_add(1)))
            && knows(self.height - self.height % SEED_EPOCH_BLOCKS)
    }

    /// Checks that the checkpoint is complete, and can be one of the network's chain: its
    /// timestamps follow the median rule, it contradicts no [`Anchor`], and on the main network its
    /// difficulties are not far below those between the last anchors.
    ///
    /// # Errors
    ///
    /// For a checkpoint that is malformed, incomplete or implausible.
    pub fn check(&self, network: Network) -> Result<(), CheckpointError> {
        self.check_complete()?;
        match self.implausible(network) {
            Some(reason) => Err(CheckpointError::Implausible { reason }),
            None => Ok(()),
        }
    }

    /// Checks the form, and that the next blocks can be judged.
    pub(crate) fn check_complete(&self) -> Result<(), CheckpointError> {
        self.check_form()?;
        if self.is_complete() { Ok(()) } else { Err(CheckpointError::Incomplete) }
    }

    /// Checks the form alone, which incomplete checkpoints have too.
    pub(crate) fn check_form(&self) -> Result<(), CheckpointError> {
        use CheckpointError::{Difficulty, Height, Recent, Seeds, Work};
        if self.height >= MAX_HEIGHT {
            return Err(Height);
        }
        if self.recent.len() as u64 > blocks_needed(self.height) {
            return Err(Recent { at_most: blocks_needed(self.height) });
        }
        let sum = self.recent.iter().try_fold(0_u128, |sum, block| {
            if block.difficulty == 0 { None } else { sum.checked_add(block.difficulty) }
        });
        let Some(sum) = sum.filter(|&sum| sum <= MAX_WORK) else { return Err(Difficulty) };
        if self.work != 0 && self.work < sum || self.work > MAX_WORK {
            return Err(Work);
        }
        let ascending = self.seeds.windows(2).all(|pair| pair[0].height < pair[1].height);
        let in_range = |seed: &Seed| {
            seed.height.is_multiple_of(SEED_EPOCH_BLOCKS) && seed.height <= self.height
        };
        if !ascending || !self.seeds.iter().all(in_range) || self.seeds.len() > Self::MAX_SEEDS {
            return Err(Seeds);
        }
        Ok(())
    }

    fn implausible(&self, network: Network) -> Option<&'static str> {
        let timestamps: Vec<u64> = self.recent.iter().map(|block| block.timestamp).collect();
        let follows_median = |window: &[u64]| match window.split_last_chunk::<1>() {
            Some((before, [last])) => <&[u64; TIMESTAMP_WINDOW]>::try_from(before)
                .is_ok_and(|before| *last >= median_timestamp(before)),
            None => false,
        };
        if !timestamps.windows(TIMESTAMP_WINDOW + 1).all(follows_median) {
            return Some("a timestamp is before the median of the 60 blocks before it");
        }
        let genesis = (0, network.genesis_id());
        let anchors = Anchor::all(network).iter().map(|anchor| (anchor.height, anchor.id));
        let wrong = |height, id| {
            anchors.clone().chain([genesis]).any(|known| known.0 == height && known.1 != id)
        };
        if wrong(self.height, self.id) || self.seeds.iter().any(|seed| wrong(seed.height, seed.id))
        {
            return Some("another id is known for a block");
        }
        let contradicts = |anchor: &Anchor| {
            self.work != 0 && self.height.cmp(&anchor.height) != self.work.cmp(&anchor.work)
        };
        if Anchor::all(network).iter().any(contradicts) {
            return Some("the work is not between that of the known blocks around it");
        }
        if network != Network::Mainnet {
            // A test network may lose nearly all of its miners.
            return None;
        }
        let newest = Anchor::all(network).last().filter(|newest| self.height >= newest.height);
        let average = newest.and_then(|_| Anchor::average_difficulty(network))?;
        let sum: u128 = self.recent.iter().map(|block| block.difficulty).sum();
        let least = average / IMPLAUSIBLE_PART * self.recent.len() as u128;
        (sum < least).then_some("the difficulties are far below those of the known chain")
    }
}

/// The number of blocks up to a height that the difficulty rule needs, including the genesis block.
fn blocks_needed(height: u64) -> u64 {
    height.saturating_add(1).min(DIFFICULTY_BLOCKS as u64)
}

/// The reason why a checkpoint is refused. Messages name the field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The height is too great.
    Height,
    /// The height of a chain's first block is too great.
    FirstHeight,
    /// There are more recent blocks than the rule needs, or than the chain can have.
    Recent {
        /// The greatest possible number.
        at_most: u64,
    },
    /// A difficulty is zero, or their sum is 2^127 or more.
    Difficulty,
    /// The work is less than the sum of the recent difficulties, or 2^127 or more.
    Work,
    /// The seeds cannot be those of the chain.
    Seeds,
    /// Recent blocks or seeds are missing, so that the next blocks cannot be judged by all rules.
    Incomplete,
    /// The checkpoint cannot be one of the network's chain.
    Implausible {
        /// The contradiction.
        reason: &'static str,
    },
}

impl fmt::Display for CheckpointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Height => write!(f, "height: expected less than {MAX_HEIGHT}"),
            Self::FirstHeight => write!(f, "height: expected at most {MAX_HEIGHT}"),
            Self::Recent { at_most } => write!(f, "recent: expected at most {at_most} blocks"),
            Self::Difficulty => {
                f.write_str("recent: expected difficulties from 1 to 2^127 - 1 in all")
            }
            Self::Work => f.write_str(
                "work: expected at least the sum of the recent difficulties and less than 2^127",
            ),
            Self::Seeds => write!(
                f,
                "seeds: expected at most {}, at ascending multiples of {SEED_EPOCH_BLOCKS} up to \
                 the checkpoint's height",
                Checkpoint::MAX_SEEDS
            ),
            Self::Incomplete => {
                f.write_str("incomplete: recent blocks or seeds are missing that the rules need")
            }
            Self::Implausible { reason } => write!(f, "implausible: {reason}"),
        }
    }
}

impl error::Error for CheckpointError {}

#[cfg(test)]
mod tests {
    use super::*;

    /// A checkpoint with the work and difficulties of the main network.
    fn plausible() -> Checkpoint {
        let difficulty = Anchor::average_difficulty(Network::Mainnet).expect("two anchors");
        after_anchors(Network::Mainnet, difficulty)
    }

    /// A checkpoint after a network's last anchor, with blocks of one difficulty.
    fn after_anchors(network: Network, difficulty: u128) -> Checkpoint {
        let newest = Anchor::all(network).last().expect("anchors");
        let height = newest.height + 735;
        let recent = (0..735).map(|n| RecentBlock { timestamp: 120 * n, difficulty }).collect();
        let mut heights = vec![seed_height(height + 1), height - height % SEED_EPOCH_BLOCKS];
        heights.dedup();
        let seeds = heights.into_iter().map(|height| Seed { height, id: [7; 32] }).collect();
        Checkpoint { height, id: [8; 32], work: newest.work + 735 * difficulty, recent, seeds }
    }

    #[track_caller]
    fn implausible(change: impl FnOnce(&mut Checkpoint)) {
        let mut checkpoint = plausible();
        change(&mut checkpoint);
        let error = checkpoint.check(Network::Mainnet).expect_err("implausible");
        assert!(matches!(error, CheckpointError::Implausible { .. }), "{error}");
    }

    #[test]
    fn starts_of_chains_are_complete_and_plausible() {
        for network in Network::ALL {
            let genesis = Checkpoint::genesis(network);
            assert_eq!(genesis.check(network), Ok(()), "{network}");
        }
        let foreign = Checkpoint::genesis(Network::Testnet).check(Network::Mainnet);
        assert!(matches!(foreign, Err(CheckpointError::Implausible { .. })));
    }

    #[test]
    fn missing_blocks_and_seeds_are_refused() {
        assert_eq!(plausible().check(Network::Mainnet), Ok(()));
        let without = |change: fn(&mut Checkpoint)| {
            let mut checkpoint = plausible();
            change(&mut checkpoint);
            assert_eq!(checkpoint.check_form(), Ok(()));
            checkpoint.check(Network::Mainnet)
        };
        assert_eq!(without(|c| c.recent.clear()), Err(CheckpointError::Incomplete));
        assert_eq!(without(|c| _ = c.recent.remove(0)), Err(CheckpointError::Incomplete));
        assert_eq!(without(|c| c.seeds.clear()), Err(CheckpointError::Incomplete));
    }

    #[test]
    fn the_greatest_height_needs_as_many_blocks_as_others() {
        let heights = [0, u64::MAX - u64::MAX % SEED_EPOCH_BLOCKS];
        let seeds = heights.map(|height| Seed { height, id: [7; 32] }).to_vec();
        let checkpoint = Checkpoint { height: u64::MAX, recent: Vec::new(), seeds, ..plausible() };
        assert!(!checkpoint.is_complete());
    }

    #[test]
    fn contradictions_are_implausible() {
        implausible(|c| c.recent[700].timestamp = 0);
        implausible(|c| c.work = Anchor::all(Network::Mainnet)[0].work);
        implausible(|c| {
            c.work = 0;
            c.recent.iter_mut().for_each(|block| block.difficulty = 1);
        });
        implausible(|c| {
            let anchor = Anchor::all(Network::Mainnet).last().expect("anchors");
            (c.height, c.work) = (anchor.height, anchor.work);
            let height = anchor.height - anchor.height % SEED_EPOCH_BLOCKS;
            c.seeds = vec![Seed { height, id: [7; 32] }];
            let next = seed_height(anchor.height + 1);
            if next != height {
                c.seeds.insert(0, Seed { height: next, id: [7; 32] });
            }
        });
    }

    #[test]
    fn difficulties_are_at_least_a_part_of_the_known_ones() {
        let average = Anchor::average_difficulty(Network::Mainnet).expect("anchors");
        let mut checkpoint = Checkpoint { work: 0, ..plausible() };
        let least = average / IMPLAUSIBLE_PART;
        checkpoint.recent.iter_mut().for_each(|block| block.difficulty = least);
        assert_eq!(checkpoint.check(Network::Mainnet), Ok(()));
        implausible(|c| {
            (c.work, c.recent) = (0, checkpoint.recent.clone());
            c.recent[0].difficulty -= 1;
        });
    }

    /// Otherwise a client that followed one could not load what it stored.
    #[test]
    fn difficulties_of_test_networks_may_fall() {
        assert_eq!(after_anchors(Network::Testnet, 1).check(Network::Testnet), Ok(()));
        let fallen = after_anchors(Network::Mainnet, 1).check(Network::Mainnet);
        assert!(matches!(fallen, Err(CheckpointError::Implausible { .. })));
    }

    #[test]
    fn the_works_range_is_bounded() {
        let with = |work| Checkpoint { work, ..plausible() }.check(Network::Mainnet);
        assert_eq!(with(1), Err(CheckpointError::Work));
        assert_eq!(with(u128::MAX), Err(CheckpointError::Work));
        assert_eq!(with(0), Ok(()), "the work is unknown");
    }
}
