//! A local proxy between Monero wallets and the nodes that they use.
//!
//! Wallets believe what their node says. A [`Guard`] speaks the node's interface to them, forwards what
//! it must to remote nodes, and answers only with what the chain client of `randomx-monero` has
//! verified. What blocks do not commit to is passed on within bounds, and named as not verified. The
//! README of this crate lists both.

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
