//! The reasons why a chain refuses a call.

use std::{error, fmt};

use super::Chain;
use crate::checkpoint::MAX_HEIGHT;

/// The reason why a chain refuses a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChainError {
    /// A block was refused, so that none can follow it.
    Refused {
        /// Its height.
        height: u64,
    },
    /// The seed hash is unknown and was not given.
    SeedHashNeeded {
        /// The height of the block whose id it is.
        seed_height: u64,
    },
    /// The difficulty cannot be computed yet and was not given.
    DifficultyNeeded,
    /// [`Chain::MAX_PENDING`] blocks wait to be settled.
    TooManyPending,
    /// No block waits to be settled.
    NothingPending,
    /// The next block would be above [`MAX_HEIGHT`].
    TooHigh,
}

impl fmt::Display for ChainError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused { height } => {
                write!(f, "the block at height {height} was refused: no block can follow it")
            }
            Self::SeedHashNeeded { seed_height } => {
                write!(f, "expected the id of block {seed_height} as the seed hash, got none")
            }
            Self::DifficultyNeeded => f.write_str(
                "expected a difficulty, since too few earlier blocks are known to compute it; got none",
            ),
            Self::TooManyPending => {
                write!(f, "expected at most {} blocks to wait for hashes", Chain::MAX_PENDING)
            }
            Self::NothingPending => f.write_str("no block waits for its hash"),
            Self::TooHigh => write!(f, "expected no block above height {MAX_HEIGHT}"),
        }
    }
}

impl error::Error for ChainError {}
