//! What must be remembered of a chain to go on with it.

use std::{error, fmt};

use crate::hash::Hash;
use crate::retarget::DIFFICULTY_BLOCKS;
use crate::seed::{SEED_EPOCH_BLOCKS, seed_height};

/// The greatest height that Monero's software knows.
pub const MAX_HEIGHT: u64 = 500_000_000;

/// The id of the main network's genesis block, which regtest chains begin with too.
pub const MAINNET_GENESIS_ID: Hash = [
    0x41, 0x80, 0x15, 0xbb, 0x9a, 0xe9, 0x82, 0xa1, 0x97, 0x5d, 0xa7, 0xd7, 0x92, 0x77, 0xc2, 0x70,
    0x57, 0x27, 0xa5, 0x68, 0x94, 0xba, 0x0f, 0xb2, 0x46, 0xad, 0xaa, 0xbb, 0x1f, 0x46, 0x32, 0xe3,
];

/// A chain up to a block that is believed: what the rules need to judge the blocks after it.
///
/// Some 20 KB as JSON. It is worth as much as the place it was kept in: who can change it chooses the
/// chain that is accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// The height of the last block.
    pub height: u64,
    /// Its id.
    pub id: Hash,
    /// The last [`DIFFICULTY_BLOCKS`] blocks up to that one, the oldest first: all there are while
    /// the chain is shorter, the genesis block included. With fewer of them difficulties are not
    /// computed but believed until there are enough.
    pub recent: Vec<RecentBlock>,
    /// The blocks whose ids are keys of blocks to come, the oldest first.
    pub seeds: Vec<Seed>,
}

/// What the rules of difficulty and time want to know of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecentBlock {
    /// In seconds since 1970.
    pub timestamp: u64,
    /// The difficulty that was demanded of it.
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
    /// The most seeds that are remembered: of the blocks that come next, and of those
    /// after the next change of keys.
    pub const MAX_SEEDS: usize = 2;

    /// The beginning of a chain with this genesis block, such as [`MAINNET_GENESIS_ID`].
    pub fn genesis(id: Hash) -> Self {
        Self {
            height: 0,
            id,
            recent: vec![RecentBlock { timestamp: 0, difficulty: 1 }],
            seeds: vec![Seed { height: 0, id }],
        }
    }

    /// Whether nothing about the next blocks has to be believed: difficulties and seed hashes follow
    /// from what is remembered.
    pub fn is_complete(&self) -> bool {
        let knows = |height| self.seeds.iter().any(|seed| seed.height == height);
        self.recent.len() as u64 == blocks_wanted(self.height)
            && knows(seed_height(self.height + 1))
            && knows(self.height - self.height % SEED_EPOCH_BLOCKS)
    }

    pub(crate) fn check(&self) -> Result<(), CheckpointError> {
        use CheckpointError::{Difficulty, Height, Recent, Seeds};
        if self.height >= MAX_HEIGHT {
            return Err(Height);
        }
        if self.recent.len() as u64 > blocks_wanted(self.height) {
            return Err(Recent { at_most: blocks_wanted(self.height) });
        }
        let sum = self.recent.iter().try_fold(0_u128, |sum, block| {
            if block.difficulty == 0 { None } else { sum.checked_add(block.difficulty) }
        });
        if sum.is_none() {
            return Err(Difficulty);
        }
        let ascending = self.seeds.windows(2).all(|pair| pair[0].height < pair[1].height);
        let on_the_chain = |seed: &Seed| {
            seed.height.is_multiple_of(SEED_EPOCH_BLOCKS) && seed.height <= self.height
        };
        if !ascending || !self.seeds.iter().all(on_the_chain) || self.seeds.len() > Self::MAX_SEEDS
        {
            return Err(Seeds);
        }
        Ok(())
    }
}

/// How many blocks up to a height the difficulty rule wants to know, the genesis block included.
fn blocks_wanted(height: u64) -> u64 {
    (height + 1).min(DIFFICULTY_BLOCKS as u64)
}

/// Why something is no checkpoint. The sentences name the field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckpointError {
    /// The height is too great.
    Height,
    /// There are more recent blocks than the rule wants, or than there can be.
    Recent {
        /// How many there may be.
        at_most: u64,
    },
    /// A difficulty is zero, or all together have more than 128 bits.
    Difficulty,
    /// Seeds that cannot be those of the chain.
    Seeds,
}

impl fmt::Display for CheckpointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Height => write!(f, "height: expected less than {MAX_HEIGHT}"),
            Self::Recent { at_most } => write!(f, "recent: expected at most {at_most} blocks"),
            Self::Difficulty => {
                f.write_str("recent: expected difficulties from 1 to 2^128 - 1 in all")
            }
            Self::Seeds => write!(
                f,
                "seeds: expected at most {}, at ascending multiples of {SEED_EPOCH_BLOCKS} up to \
                 the checkpoint's height",
                Checkpoint::MAX_SEEDS
            ),
        }
    }
}

impl error::Error for CheckpointError {}
