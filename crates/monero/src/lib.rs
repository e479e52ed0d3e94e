//! Monero's rules around a RandomX hash.
//!
//! Two questions come before and after hashing a block: which block's id is the key at this
//! height ([`seed_height`]), and does the hash prove enough work ([`Difficulty::is_met_by`])?
//! The hash itself is the `randomx` crate's; this crate only does arithmetic, allocates
//! nothing and runs anywhere, a browser included.
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

mod difficulty;
mod seed;

pub use difficulty::{Difficulty, DifficultyError};
pub use seed::{SEED_EPOCH_BLOCKS, SEED_EPOCH_LAG, seed_height};
