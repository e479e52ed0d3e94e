//! Why a part of a chain is not trusted: its blocks, judged one by one.

use randomx_monero::{Chain, CheckName, Checkpoint};

use super::{PART, Rules, hashes::Hashes, part::Part, verdict::Line};
use crate::{error::Error, node::Node};

/// Judges the blocks after a checkpoint, all of them with their proof of work, up to the first that is
/// not valid.
pub(super) fn judge(
    rules: &Rules,
    checkpoint: &Checkpoint,
    part: &Part,
    now: u64,
    hashes: &mut Hashes<'_, '_>,
) -> Result<Vec<Line>, Error> {
    let mut chain = Chain::resume_unchecked(checkpoint.clone(), rules.network)?;
    if let Some(difficulty) = rules.fixed_difficulty {
        chain = chain.with_fixed_difficulty(difficulty);
    }
    let mut lines = Vec::new();
    for blocks in part.blocks.chunks(PART as usize) {
        let mut work = Vec::new();
        for given in blocks {
            match chain.push(&given.link(), now)? {
                Some(wanted) => work.push(wanted),
                None => break,
            }
        }
        let keys_and_blobs: Vec<_> =
            work.iter().map(|work| (work.seed_hash, work.hashing_blob.as_slice())).collect();
        let mut computed = hashes.of(&keys_and_blobs)?.into_iter();
        while chain.pending() > 0 {
            // A block that is refused whatever its hash has none, and is the last.
            let verdict = chain.settle(computed.next())?;
            let accepted = verdict.status.is_accepted();
            lines.push(Line::from(verdict));
            if !accepted {
                return Ok(lines);
            }
        }
    }
    Err(Error::NotAdopted { first: checkpoint.height + 1, last: part.next_height() - 1 })
}

/// Returns an error if a block is not valid for a reason that an honest node can have: a reorganisation while
/// its chain was read, or a clock of this computer that is slow.
pub(super) fn check_blame(
    node: &Node,
    checkpoint: &Checkpoint,
    part: &Part,
    line: &Line,
) -> Result<(), Error> {
    const PARTED: &str = CheckName::PreviousId.as_str();
    const EARLY: &str = CheckName::TimestampFuture.as_str();
    let height = line.height;
    match line.only_failure() {
        Some((PARTED, _)) => match has_changed(node, checkpoint, part, height) {
            Ok(false) => Ok(()),
            Ok(true) => Err(Error::Reorganised { height }),
            Err(problem) => Err(Error::NotAskedAgain { height, problem: Box::new(problem) }),
        },
        Some((EARLY, detail)) => Err(Error::EarlyBlock { height, detail: detail.to_owned() }),
        _ => Ok(()),
    }
}

/// Whether the node now sends another block than before at a height or the one below: parallel requests may
/// have read either of the two later. A node that lies can answer this question with another block, and so turn
/// the verdict into [`Error::Reorganised`], which trusts nothing either.
fn has_changed(
    node: &Node,
    checkpoint: &Checkpoint,
    part: &Part,
    height: u64,
) -> Result<bool, Error> {
    for height in [height - 1, height] {
        // The block before the part is the checkpoint's.
        let sent = part.id(height).unwrap_or(checkpoint.id);
        if node.block(height)?.header.id != sent {
            return Ok(true);
        }
    }
    Ok(false)
}
