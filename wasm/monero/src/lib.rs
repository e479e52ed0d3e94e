//! Monero's rules and the light client for JavaScript.
//!
//! It is a thin layer: each export checks its arguments, calls the crate `randomx-monero` and returns plain
//! objects. Errors are JavaScript `Error`s whose `code` is `invalid-argument`, or for a stored state `damaged-state`
//! or `foreign-state`.
//!
//! The package has three modules of it, one for each feature, so that a page downloads only what it uses:
//! `block` verifies blocks, `chain` verifies blocks and chains, and `follow` is the light client. All contain the
//! checks of one block.

#![deny(unsafe_code)]

#[cfg(target_arch = "wasm32")]
use talc::wasm::{WasmDynamicTalc, new_wasm_dynamic_allocator};

mod argument;
mod block;
#[cfg(feature = "chain")]
mod chain;
#[cfg(any(feature = "chain", feature = "follow"))]
mod chain_argument;
#[cfg(feature = "follow")]
mod client;
mod object;
#[cfg(feature = "follow")]
mod report;
#[cfg(feature = "block")]
mod rules;
#[cfg(feature = "chain")]
mod verdict;

pub use argument::InvalidArgument;
pub use block::{examine, hashing_blob};
#[cfg(feature = "chain")]
pub use chain::Chain;
#[cfg(feature = "follow")]
pub use client::{ChainClient, ClientConfig, RefusedState, transaction_id};
#[cfg(feature = "block")]
pub use rules::{meets_difficulty, proof_of_work, seed_height};

/// Smaller than the standard library's, for the download. It serves one thread, and an instance has no more.
#[cfg(target_arch = "wasm32")]
#[global_allocator]
static ALLOCATOR: WasmDynamicTalc = new_wasm_dynamic_allocator();
