//! The stored state: the base, the client's chain after it, and the blocks that were refused.

use std::collections::VecDeque;
use std::{error, fmt};

use super::codec::{Parser, Writer};
use super::tree::Tree;
use crate::checkpoint::{Checkpoint, CheckpointError};
use crate::hash::Hash;
use crate::network::Network;

const MAGIC: &[u8; 8] = b"RXMstor1";

/// What is stored.
pub(super) struct State {
    pub(super) tree: Tree,
    /// The newest trusted block.
    pub(super) trusted: Hash,
    /// Blocks whose proof of work failed.
    pub(super) refused: VecDeque<Hash>,
}

/// Returns the bytes to store for the chain up to a block.
pub(super) fn save(
    tree: &Tree,
    network: Network,
    fixed: Option<u128>,
    tip: &Hash,
    refused: &VecDeque<Hash>,
) -> Vec<u8> {
    let mut writer = Writer::new(MAGIC);
    writer.network(network);
    writer.u128(fixed.unwrap_or(0));
    writer.u8(u8::from(tree.work_is_known()));
    writer.checkpoint(tree.base());
    let mut chain: Vec<_> = tree.chain(tip).map(|(_, entry)| entry).collect();
    chain.reverse();
    writer.u32(chain.len() as u32);
    for entry in chain {
        writer.u8(u8::from(entry.hashed));
        writer.blob(&entry.blob);
    }
    writer.u32(refused.len() as u32);
    refused.iter().for_each(|id| writer.hash(id));
    writer.finish()
}

/// Rebuilds the state from stored bytes.
pub(super) fn restore(
    bytes: &[u8],
    network: Network,
    fixed: Option<u128>,
) -> Result<State, StoreError> {
    let mut parser = Parser::new(MAGIC, bytes).ok_or(StoreError::Damaged)?;
    let stored_network = parser.network().ok_or(StoreError::Damaged)?;
    let stored_fixed = parser.u128().ok_or(StoreError::Damaged)?;
    if stored_network != network || stored_fixed != fixed.unwrap_or(0) {
        return Err(StoreError::Foreign { network: stored_network });
    }
    let work_known = parser.u8().ok_or(StoreError::Damaged)? == 1;
    let base = parser.checkpoint().ok_or(StoreError::Damaged)?;
    let work = if work_known { base.work } else { 0 };
    Checkpoint { work, ..base.clone() }.check(network).map_err(StoreError::Base)?;
    let mut trusted = base.id;
    let mut tree = Tree::new(network, fixed, base);
    if !work_known {
        tree = tree.with_unknown_work();
    }
    let mut newest_hashed = true;
    for _ in 0..parser.count(1).ok_or(StoreError::Damaged)? {
        newest_hashed = parser.u8().ok_or(StoreError::Damaged)? == 1;
        let blob = parser.blob().ok_or(StoreError::Damaged)?;
        // The clock may have been wrong since: what was accepted once is not too early now.
        trusted = tree.insert(&trusted, blob, u64::MAX).map_err(|_| StoreError::BrokenRule)?;
        if let Some(entry) = tree.get_mut(&trusted) {
            (entry.hashed, entry.accepted) = (newest_hashed, true);
        }
    }
    let count = parser.count(size_of::<Hash>()).ok_or(StoreError::Damaged)?;
    let refused = (0..count).map(|_| parser.bytes()).collect::<Option<_>>();
    let refused = refused.ok_or(StoreError::Damaged)?;
    parser.end().ok_or(StoreError::Damaged)?;
    if !newest_hashed {
        return Err(StoreError::BrokenRule);
    }
    Ok(State { tree, trusted, refused })
}

/// The reason why stored bytes are refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoreError {
    /// The bytes are incomplete, damaged or something else, or another release wrote them.
    Damaged,
    /// They belong to another network, or to a chain with another fixed difficulty.
    Foreign {
        /// The network that they belong to.
        network: Network,
    },
    /// The base is incomplete or implausible.
    Base(CheckpointError),
    /// A stored block breaks a rule, or the newest one's proof of work was not checked.
    BrokenRule,
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Damaged => f.write_str("expected a stored chain, got other or damaged bytes"),
            Self::Foreign { network } => {
                write!(f, "the stored chain is one of {network}, or has another fixed difficulty")
            }
            Self::Base(error) => write!(f, "the stored base: {error}"),
            Self::BrokenRule => f.write_str("a stored block breaks a rule"),
        }
    }
}

impl error::Error for StoreError {}
