//! Monero's rules for JavaScript.
//!
//! A module of its own beside the one that hashes, so that who only hashes does not load it. A thin
//! door: each export checks its arguments, calls the crate `randomx-monero` and returns plain
//! objects. What fails is thrown as a JavaScript `Error` whose `code` is `invalid-argument`.

#![deny(unsafe_code)]

mod argument;
mod block;
mod chain;
mod object;

pub use argument::InvalidArgument;
pub use block::{examine, meets_difficulty, proof_of_work, seed_height};
pub use chain::Chain;
