//! Monero's rules around a RandomX hash.
//!
//! A [`Block`] is parsed from its blob, and has the bytes that RandomX hashes
//! ([`Block::hashing_blob`]) and an id ([`Block::id`]). The key at a height is the id of the block at
//! [`seed_height`], and [`Difficulty::is_met_by`] decides whether a hash proves enough work.
//!
//! [`examine`] checks one block by itself. A [`Chain`] checks block after block: what it demands
//! follows from the blocks before, back to a trusted [`Checkpoint`]. Both return every [`Check`].
//!
//! A [`client::Client`] follows a network's chain through untrusted sources.
//!
//! The rules that need a whole node are not checked: that transactions are valid, that the miner
//! pays itself no more than it may, that blocks are not too large, and that no output is spent
//! twice. Blocks before major version 12, which introduced RandomX, cannot be judged.
//!
//! The hash itself comes from the `randomx` crate. This crate does no input or output and runs
//! anywhere, including in a browser.
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

mod anchor;
mod block;
mod candidate;
mod chain;
mod checkpoint;
mod checks;
pub mod client;
mod difficulty;
mod hash;
mod header;
mod history;
mod miner_transaction;
mod network;
mod reader;
mod retarget;
mod seed;
mod timestamp;
mod transaction;
mod tree_hash;

pub use anchor::Anchor;
pub use block::Block;
pub use candidate::{Candidate, Examination, examine};
pub use chain::{Chain, ChainError, Link, Verdict, Work};
pub use checkpoint::{Checkpoint, CheckpointError, MAX_HEIGHT, RecentBlock, Seed};
pub use checks::{Check, CheckName, Outcome, Status, proof_of_work};
pub use difficulty::{Difficulty, DifficultyError};
pub use hash::{Hash, keccak256};
pub use header::{BlockHeader, HashingBlob, unknown_version};
pub use miner_transaction::{MinerTransaction, UNLOCK_WINDOW};
pub use network::{LATEST_VERSION, MAINNET_GENESIS_ID, Network, RANDOMX_VERSION, UnknownNetwork};
pub use reader::{BlockError, Problem};
pub use retarget::{
    DIFFICULTY_BLOCKS, DIFFICULTY_CUT, DIFFICULTY_LAG, DIFFICULTY_TARGET, DIFFICULTY_WINDOW,
    PastBlock, next_difficulty,
};
pub use seed::{SEED_EPOCH_BLOCKS, SEED_EPOCH_LAG, seed_height};
pub use timestamp::{TIMESTAMP_FUTURE_LIMIT, TIMESTAMP_WINDOW, median_timestamp};
pub use transaction::Transaction;
pub use tree_hash::tree_hash;

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
