//! Monero's rules for JavaScript.
//!
//! A module of its own, so that callers who only hash do not download it. It is a thin layer: each
//! export checks its arguments, calls the crate `randomx-monero` and returns plain objects. Errors are
//! JavaScript `Error`s whose `code` is `invalid-argument`.

#![deny(unsafe_code)]

mod argument;
mod block;
mod chain;
mod client;
mod object;
mod report;

pub use argument::InvalidArgument;
pub use block::{examine, hashing_blob, meets_difficulty, proof_of_work, seed_height};
pub use chain::Chain;
pub use client::{ChainClient, ClientConfig, RefusedState};
