//! The stored state: the base, the client's chain after it, and the blocks that were refused.

use std::collections::VecDeque;
use std::{error, fmt};

use super::anchoring::Anchoring;
use super::codec::{Parser, Writer};
use super::tree::{Refusal, Tree};
use crate::anchor::Anchor;
use crate::checkpoint::{Checkpoint, CheckpointError};
use crate::hash::Hash;
use crate::network::{LATEST_VERSION, Network};

const MAGIC: &[u8; 8] = b"RXMstor2";

/// Begins the states of releases that did not store whether a source stated the first difficulties.
const FORMER: &[u8; 8] = b"RXMstor1";

/// The state that is stored.
pub(super) struct State {
    pub(super) tree: Tree,
    /// The newest trusted block.
    pub(super) trusted: Hash,
    /// Blocks whose proof of work failed.
    pub(super) refused: VecDeque<Hash>,
    /// The height of the first stored block that this release refuses.
    pub(super) dropped_from: Option<u64>,
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
    writer.u8(u8::from(tree.stated().is_some()));
    for anchor in tree.stated().into_iter().flat_map(|(from, to)| [from, to]) {
        writer.u64(anchor.height);
        writer.hash(&anchor.id);
        writer.u128(anchor.work);
    }
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

/// Rebuilds the state from stored bytes. If this release refuses a block, the chain ends at the last block before it
/// whose proof of work was checked.
pub(super) fn restore(
    bytes: &[u8],
    network: Network,
    fixed: Option<u128>,
) -> Result<State, StoreError> {
    let former = Parser::new(FORMER, bytes);
    let is_former = former.is_some();
    let mut parser = former.or_else(|| Parser::new(MAGIC, bytes)).ok_or(StoreError::Damaged)?;
    let stored_network = parser.network().ok_or(StoreError::Damaged)?;
    let stored_fixed = parser.u128().ok_or(StoreError::Damaged)?;
    if stored_network != network {
        return Err(StoreError::ForeignNetwork { expected: network, stored: stored_network });
    }
    let stored_fixed = Some(stored_fixed).filter(|difficulty| *difficulty > 0);
    if stored_fixed != fixed {
        return Err(StoreError::ForeignDifficulty { expected: fixed, stored: stored_fixed });
    }
    let work_known = parser.u8().ok_or(StoreError::Damaged)? == 1;
    let mut stated = None;
    if !is_former && parser.u8().ok_or(StoreError::Damaged)? == 1 {
        stated = Some(anchors(&mut parser).ok_or(StoreError::Damaged)?);
    }
    let base = parser.checkpoint().ok_or(StoreError::Damaged)?;
    if is_former && work_known {
        // A source stated them if the chain began with the network's anchors, as most chains did.
        stated = Anchoring::stated_before(network, fixed, &base);
    } else if stated.is_some_and(|(_, to)| to.height > base.height) {
        return Err(StoreError::Damaged);
    }
    let work = if work_known { base.work } else { 0 };
    Checkpoint { work, ..base.clone() }.check(network).map_err(StoreError::Base)?;
    let (mut tip, mut trusted) = (base.id, base.id);
    let mut tree = Tree::new(network, fixed, base).with_stated(stated);
    if !work_known {
        tree = tree.with_unknown_work();
    }
    let mut dropped_from = None;
    for _ in 0..parser.count(1).ok_or(StoreError::Damaged)? {
        let is_hashed = parser.u8().ok_or(StoreError::Damaged)? == 1;
        let blob = parser.blob().ok_or(StoreError::Damaged)?;
        if dropped_from.is_none() && !add(&mut tree, &mut tip, blob, is_hashed)? {
            dropped_from = Some(tree.height(&tip) + 1);
        } else if dropped_from.is_none() && is_hashed {
            trusted = tip;
        }
    }
    tree.keep(&tree.chains(&[trusted]));
    let count = parser.count(size_of::<Hash>()).ok_or(StoreError::Damaged)?;
    let refused = (0..count).map(|_| parser.bytes()).collect::<Option<_>>();
    let mut refused: VecDeque<Hash> = refused.ok_or(StoreError::Damaged)?;
    if is_former && stated.is_some() {
        // The difficulties may have been at fault, not the blocks.
        refused.clear();
    }
    parser.end().ok_or(StoreError::Damaged)?;
    Ok(State { tree, trusted, refused, dropped_from })
}

/// Adds a stored block after `tip`, which it becomes. Returns `false` if the block breaks a rule of this release.
fn add(tree: &mut Tree, tip: &mut Hash, blob: &[u8], hashed: bool) -> Result<bool, StoreError> {
    // The clock may have been wrong since: what was accepted once is not too early now.
    match tree.insert(tip, blob, u64::MAX) {
        Ok(id) => *tip = id,
        Err(Refusal::UpdateNeeded(version)) if version > LATEST_VERSION => {
            return Err(StoreError::UpdateNeeded { height: tree.height(tip) + 1, version });
        }
        // The network's rules changed at a height that an earlier release did not know.
        Err(Refusal::Invalid(_) | Refusal::UpdateNeeded(_)) => return Ok(false),
        Err(Refusal::TooEarly(_) | Refusal::Unlinked | Refusal::Malformed) => {
            return Err(StoreError::Damaged);
        }
    }
    if let Some(entry) = tree.get_mut(tip) {
        (entry.hashed, entry.accepted) = (hashed, true);
    }
    Ok(true)
}

/// Reads the two anchors of a first start.
fn anchors(parser: &mut Parser<'_>) -> Option<(Anchor, Anchor)> {
    let anchor = |parser: &mut Parser<'_>| {
        Some(Anchor { height: parser.u64()?, id: parser.bytes()?, work: parser.u128()? })
    };
    let (from, to) = (anchor(parser)?, anchor(parser)?);
    (Anchoring::is_stated(from) && Anchoring::is_wide(from, to)).then_some((from, to))
}

/// The reason why stored bytes are refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoreError {
    /// The bytes are incomplete, damaged or something else, or another release wrote them.
    Damaged,
    /// They belong to another network.
    ForeignNetwork {
        /// The client's network.
        expected: Network,
        /// The network that they belong to.
        stored: Network,
    },
    /// They belong to a chain with another fixed difficulty.
    ForeignDifficulty {
        /// The client's fixed difficulty, if it has one.
        expected: Option<u128>,
        /// That of the stored chain.
        stored: Option<u128>,
    },
    /// The base is incomplete or implausible.
    Base(CheckpointError),
    /// A stored block has a version that this release does not know: a newer one stored it.
    UpdateNeeded {
        /// Its height.
        height: u64,
        /// Its major version.
        version: u8,
    },
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Damaged => f.write_str("expected a stored chain, got other or damaged bytes"),
            Self::ForeignNetwork { expected, stored } => {
                write!(f, "expected a chain of {expected}, got one of {stored}")
            }
            Self::ForeignDifficulty { expected, stored } => {
                let words = |difficulty: &Option<u128>| match difficulty {
                    Some(difficulty) => format!("the fixed difficulty {difficulty}"),
                    None => "no fixed difficulty".to_owned(),
                };
                let (expected, stored) = (words(expected), words(stored));
                write!(f, "expected a chain with {expected}, got one with {stored}")
            }
            Self::Base(error) => write!(f, "the stored base: {error}"),
            Self::UpdateNeeded { height, version } => write!(
                f,
                "the stored block {height} has version {version}: expected at most {LATEST_VERSION}; use the \
                 release that stored it, or a newer one"
            ),
        }
    }
}

impl error::Error for StoreError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::{RecentBlock, Seed};
    use crate::hash::keccak256;
    use crate::retarget::DIFFICULTY_BLOCKS;

    const HEIGHT: u64 = 3_800_000;

    /// A chain of the main network, some years after its anchors.
    fn tree(stated: Option<(Anchor, Anchor)>) -> Tree {
        let timestamp = |block: u64| 1_900_000_000 + 120 * block;
        let blocks = 0..DIFFICULTY_BLOCKS as u64;
        let recent = blocks
            .map(|block| RecentBlock { timestamp: timestamp(block), difficulty: 600_000_000_000 });
        let recent = recent.collect();
        let seeds = vec![Seed { height: HEIGHT - HEIGHT % 2048, id: [3; 32] }];
        let base = Checkpoint { height: HEIGHT, id: [4; 32], work: 1 << 90, recent, seeds };
        Tree::new(Network::Mainnet, None, base).with_stated(stated)
    }

    fn anchors() -> (Anchor, Anchor) {
        Anchoring::new(Network::Mainnet).and_then(|start| start.stated()).expect("two anchors")
    }

    fn stored(tree: &Tree) -> Vec<u8> {
        save(tree, Network::Mainnet, None, &tree.base().id, &VecDeque::from([[5; 32]]))
    }

    /// Replaces the checksum after a change.
    fn resealed(content: &[u8]) -> Vec<u8> {
        [content, &keccak256(&[content])].concat()
    }

    fn restored(bytes: &[u8]) -> Result<(Option<(Anchor, Anchor)>, usize), StoreError> {
        restore(bytes, Network::Mainnet, None)
            .map(|state| (state.tree.stated(), state.refused.len()))
    }

    #[test]
    fn the_anchors_of_stated_difficulties_are_stored() {
        for stated in [None, Some(anchors())] {
            assert_eq!(restored(&stored(&tree(stated))), Ok((stated, 1)));
        }
    }

    #[test]
    fn impossible_anchors_are_damage() {
        let (from, to) = anchors();
        let early = Anchor { height: DIFFICULTY_BLOCKS as u64 - 1, ..from };
        let late = Anchor { height: HEIGHT + 1, ..to };
        for stated in [(to, from), (early, to), (from, late)] {
            assert_eq!(restored(&stored(&tree(Some(stated)))), Err(StoreError::Damaged));
        }
    }

    /// Earlier releases refused blocks for which the difficulties may have been at fault.
    #[test]
    fn states_of_earlier_releases_may_have_stated_difficulties() {
        let bytes = stored(&tree(None));
        let (content, _) = bytes.split_last_chunk::<32>().expect("a checksum");
        // The magic bytes, the network, the fixed difficulty, and whether the work is known.
        let (head, rest) = content.split_at(8 + 1 + 16 + 1);
        let mut former = [FORMER, &head[8..], &rest[1..]].concat();
        assert_eq!(restored(&resealed(&former)), Ok((Some(anchors()), 0)));
        former[head.len() - 1] = 0;
        assert_eq!(restored(&resealed(&former)), Ok((None, 1)), "it began at a checkpoint");
    }
}
