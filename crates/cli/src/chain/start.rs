//! The start of a verification: a checkpoint, or a block before which the node is trusted.

use randomx_monero::{
    Checkpoint, CheckpointError, DIFFICULTY_BLOCKS, Hash, RecentBlock, SEED_EPOCH_BLOCKS, Seed,
    seed_height,
};

use super::checkpoint::CheckpointFile;
use crate::{
    args::NodeArgs,
    error::{self, Error},
    node::{MAX_HEADERS, Node},
};

/// Where a verification begins and ends.
pub(super) struct Start {
    pub(super) checkpoint: Checkpoint,
    /// Whether the checkpoint is complete and plausible.
    pub(super) complete: bool,
    pub(super) last: u64,
}

/// Returns the start, or `None` if there is no block to verify.
pub(super) fn start(
    node: &Node,
    args: &NodeArgs,
    file: Option<&CheckpointFile<'_>>,
) -> Result<Option<Start>, Error> {
    if let (Some(from), Some(to)) = (args.from, args.to)
        && to < from
    {
        return Err(Error::EndBeforeStart { from, to });
    }
    file.map_or(Ok(()), CheckpointFile::can_be_written)?;
    let kept = file.map(CheckpointFile::read).transpose()?.flatten();
    let kept = kept.map(|kept| check(kept, args)).transpose()?;
    let first = match (&kept, args.from) {
        (Some((kept, _)), Some(from)) if from != kept.height + 1 => {
            return Err(Error::NotAfterCheckpoint { from, height: kept.height });
        }
        (Some((kept, _)), _) => kept.height + 1,
        // The genesis block has no proof of work.
        (None, Some(0)) => return Err(Error::NoWorkInGenesis),
        (None, Some(from)) => from,
        (None, None) => return Err(Error::NoStart),
    };
    let tip = node.info()?.height.saturating_sub(1);
    if let Some((kept, _)) = &kept
        && kept.height <= tip
    {
        compare(node, kept)?;
    }
    let last = args.to.unwrap_or(tip).min(tip);
    if last < first {
        error::note(&Error::NothingNew { first, last });
        return Ok(None);
    }
    if args.to.is_some_and(|to| to > tip) {
        error::note(&Error::ChainEnds { tip });
    }
    let (checkpoint, complete) = match kept {
        Some((kept, Ok(()))) => (kept, true),
        Some((kept, Err(CheckpointError::Incomplete))) => (completed(node, kept)?, false),
        Some((kept, Err(_))) => (kept, false),
        None => {
            let trusted = describe(node, first - 1)?;
            let (height, id) = (trusted.height, hex::encode(trusted.id));
            error::note(&Error::Trusted { height, id });
            let complete = trusted.check(args.network).is_ok();
            (trusted, complete)
        }
    };
    Ok(Some(Start { checkpoint, complete, last }))
}

/// Refuses checkpoints that are malformed, and others that are not allowed.
fn check(
    kept: Checkpoint,
    args: &NodeArgs,
) -> Result<(Checkpoint, Result<(), CheckpointError>), Error> {
    match kept.check(args.network) {
        Err(problem @ (CheckpointError::Incomplete | CheckpointError::Implausible { .. }))
            if args.allow_incomplete =>
        {
            Ok((kept, Err(problem)))
        }
        outcome => Ok(outcome.map(|()| (kept, Ok(())))?),
    }
}

/// Refuses a checkpoint whose block the node does not have. The blocks after it would look invalid.
fn compare(node: &Node, kept: &Checkpoint) -> Result<(), Error> {
    let id = node.header(kept.height)?.id;
    if id == kept.id { Ok(()) } else { Err(other_chain(kept.height, id)) }
}

fn other_chain(height: u64, id: Hash) -> Error {
    Error::OtherChain { height, id: hex::encode(id) }
}

/// Adds the missing blocks and seeds to a checkpoint, as the node describes them.
fn completed(node: &Node, kept: Checkpoint) -> Result<Checkpoint, Error> {
    let described = describe(node, kept.height)?;
    if described.id != kept.id {
        return Err(other_chain(kept.height, described.id));
    }
    Ok(Checkpoint { work: kept.work, ..described })
}

/// Returns the chain up to a block as the node describes it, which cannot be verified here.
fn describe(node: &Node, height: u64) -> Result<Checkpoint, Error> {
    let first = (height + 1).saturating_sub(DIFFICULTY_BLOCKS as u64);
    const { assert!(DIFFICULTY_BLOCKS as u64 <= MAX_HEADERS, "one call returns them all") };
    let headers = node.headers(first, height)?;
    let recent = headers
        .iter()
        .map(|header| RecentBlock { timestamp: header.timestamp, difficulty: header.difficulty })
        .collect();
    let id = headers.last().map(|header| header.id).unwrap_or_default();
    let next = height - height % SEED_EPOCH_BLOCKS;
    let mut heights = vec![seed_height(height + 1), next];
    heights.dedup();
    let seed = |height| Ok(Seed { height, id: node.header(height)?.id });
    let seeds = heights.into_iter().map(seed).collect::<Result<Vec<_>, Error>>()?;
    Ok(Checkpoint { height, id, work: 0, recent, seeds })
}
