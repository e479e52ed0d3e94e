//! Why a part of a chain is not trusted: its blocks, judged one by one.

use randomx_monero::{Chain, Checkpoint};

use super::{PART, Rules, hashes::Hashes, part::Part, verdict::Line};
use crate::error::Error;

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
