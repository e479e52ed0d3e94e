//! Monero's rules: real blocks and chains, made ones, and hostile ones.

mod blocks;
mod chain;
mod common;
mod difficulty;
mod hostile;
mod limits;
mod mainnet;
mod transactions;
