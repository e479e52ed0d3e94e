//! A local proxy between Monero wallets and the nodes that they use.
//!
//! Wallets trust their node. A [`Guard`] speaks the node's interface to them. It sends them only blocks, headers and
//! confirmed transactions that the chain client of `randomx-monero` has verified. The guard forwards data that blocks
//! do not commit to, within limits, and counts it as not verified. The README of this crate lists both.

mod answer;
mod archive;
mod blocks;
mod chain;
mod dispatch;
mod epee;
mod fees;
mod following;
mod forward;
mod guard;
#[cfg(feature = "internals")]
pub mod internals;
mod journal;
mod json_list;
mod local;
mod methods;
mod nodes;
mod paid;
mod pool_times;
mod refusal;
mod routes;
mod service;
mod status;
mod transactions;
mod verified;

pub use guard::{Guard, GuardError, Setup};
