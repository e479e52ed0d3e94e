//! The start of a verification: a checkpoint, or a block before which the node is trusted.

use randomx_monero::{
    Chain, Checkpoint, DIFFICULTY_BLOCKS, RecentBlock, SEED_EPOCH_BLOCKS, Seed, seed_height,
};

use super::checkpoint::CheckpointFile;
use crate::{
    args::NodeArgs,
    error::{self, Error},
    node::{MAX_HEADERS, Node},
};

/// The chain up to the first block to verify.
pub(super) fn start(
    node: &Node,
    args: &NodeArgs,
    file: Option<&CheckpointFile<'_>>,
) -> Result<Chain, Error> {
    let kept = file.map(CheckpointFile::read).transpose()?.flatten();
    let chain = match (kept, args.from) {
        (Some(kept), Some(from)) if from != kept.height + 1 => {
            return Err(Error::NotAfterCheckpoint { from, height: kept.height });
        }
        (Some(kept), _) if args.allow_incomplete => Chain::resume_unchecked(kept, args.network)?,
        (Some(kept), _) => Chain::resume(kept, args.network)?,
        (None, Some(from)) => Chain::resume_unchecked(trusted(node, from)?, args.network)?,
        (None, None) => return Err(Error::NoStart),
    };
    Ok(match args.fixed_difficulty {
        Some(difficulty) => chain.with_fixed_difficulty(difficulty.into()),
        None => chain,
    })
}

/// The chain before a block as the node describes it, which cannot be verified here.
fn trusted(node: &Node, from: u64) -> Result<Checkpoint, Error> {
    // The genesis block has no proof of work.
    let height = from.checked_sub(1).ok_or(Error::NoWorkInGenesis)?;
    let first = (height + 1).saturating_sub(DIFFICULTY_BLOCKS as u64);
    const { assert!(DIFFICULTY_BLOCKS as u64 <= MAX_HEADERS, "one call returns them all") };
    let headers = node.headers(first, height)?;
    let recent = headers
        .iter()
        .map(|header| RecentBlock { timestamp: header.timestamp, difficulty: header.difficulty })
        .collect();
    let id = headers.last().map(|header| header.id).unwrap_or_default();
    let next = height - height % SEED_EPOCH_BLOCKS;
    let mut heights = vec![seed_height(from), next];
    heights.dedup();
    let seed = |height| Ok(Seed { height, id: node.header(height)?.id });
    let seeds = heights.into_iter().map(seed).collect::<Result<Vec<_>, Error>>()?;
    error::note(&Error::Trusted { height, id: hex::encode(id) });
    Ok(Checkpoint { height, id, work: 0, recent, seeds })
}
