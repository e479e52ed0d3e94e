//! Monero's rules around a RandomX hash.
//!
//! A [`Block`] is read from its blob, which says what is hashed ([`Block::hashing_blob`]) and what
//! the block is called ([`Block::id`]). Which block's id is the key at its height is [`seed_height`],
//! and whether the hash proves enough work [`Difficulty::is_met_by`]. [`examine`] looks at one block by
//! itself, and a [`Chain`] at one after the other: what it demands follows from those before, back to
//! a [`Checkpoint`] that is believed. Both say what they compared, check by check.
//!
//! Not looked at are what only a whole node can know: whether transactions are valid, what the miner pays
//! itself, how large blocks may be, at which heights forks are, and whether another chain has more work.
//! The rules are those since RandomX became the proof of work, in major version 12.
//!
//! The hash itself is the `randomx` crate's: this one does no input or output and runs anywhere, a
//! browser included.
//!
//! ```
//! use randomx_monero::{Difficulty, seed_height};
//!
//! assert_eq!(seed_height(3_727_300), 3_725_312);
//!
//! let difficulty: Difficulty = "716071628829".parse()?;
//! let mut hash = [0xff; 32];
//! assert!(!difficulty.is_met_by(&hash));
//! hash[27..].fill(0); // small enough as a little-endian number
//! assert!(difficulty.is_met_by(&hash));
//! # Ok::<(), randomx_monero::DifficultyError>(())
//! ```

mod block;
mod candidate;
mod chain;
mod checkpoint;
mod checks;
mod difficulty;
mod hash;
mod header;
mod history;
mod miner_transaction;
mod reader;
mod retarget;
mod seed;
mod timestamp;
mod tree_hash;

pub use block::Block;
pub use candidate::{Candidate, Examination, RANDOMX_VERSION, UNLOCK_WINDOW, examine};
pub use chain::{Chain, ChainError, Link, Verdict, Work};
pub use checkpoint::{
    Checkpoint, CheckpointError, MAINNET_GENESIS_ID, MAX_HEIGHT, RecentBlock, Seed,
};
pub use checks::{Check, CheckName, Outcome, all_hold, proof_of_work};
pub use difficulty::{Difficulty, DifficultyError};
pub use hash::Hash;
pub use header::{BlockHeader, HashingBlob, Layout};
pub use miner_transaction::MinerTransaction;
pub use reader::{BlockError, Problem};
pub use retarget::{
    DIFFICULTY_BLOCKS, DIFFICULTY_CUT, DIFFICULTY_LAG, DIFFICULTY_TARGET, DIFFICULTY_WINDOW,
    PastBlock, next_difficulty,
};
pub use seed::{SEED_EPOCH_BLOCKS, SEED_EPOCH_LAG, seed_height};
pub use timestamp::{TIMESTAMP_FUTURE_LIMIT, TIMESTAMP_WINDOW, median_timestamp};
pub use tree_hash::tree_hash;
