//! Monero's rules for JavaScript.
//!
//! A module of its own, so that callers who only hash do not download it. It is a thin layer: each
//! export checks its arguments, calls the crate `randomx-monero` and returns plain objects. Errors are
//! JavaScript `Error`s whose `code` is `invalid-argument`.

#![deny(unsafe_code)]

mod argument;
mod block;
mod chain;
mod object;

pub use argument::InvalidArgument;
pub use block::{examine, meets_difficulty, proof_of_work, seed_height};
pub use chain::Chain;
