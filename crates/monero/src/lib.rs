//! Monero's rules around a RandomX hash.
//!
//! A [`Block`] is read from its blob, which says what is hashed ([`Block::hashing_blob`]) and what
//! the block is called ([`Block::id`]). Which block's id is the key at its height is [`seed_height`],
//! and whether the hash proves enough work [`Difficulty::is_met_by`]. The hash itself is the
//! `randomx` crate's: this one does no input or output and runs anywhere, a browser included.
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
mod difficulty;
mod hash;
mod header;
mod miner_transaction;
mod reader;
mod seed;
mod tree_hash;

pub use block::Block;
pub use difficulty::{Difficulty, DifficultyError};
pub use hash::Hash;
pub use header::{BlockHeader, HashingBlob, Layout};
pub use miner_transaction::MinerTransaction;
pub use reader::{BlockError, Problem};
pub use seed::{SEED_EPOCH_BLOCKS, SEED_EPOCH_LAG, seed_height};
pub use tree_hash::tree_hash;
