//! A block that somebody says is valid, looked at by itself.

use crate::block::Block;
use crate::checks::{Check, CheckName};
use crate::hash::Hash;
use crate::header::{HashingBlob, Layout};

/// The major version from which RandomX is the proof of work.
pub const RANDOMX_VERSION: u8 = 12;

/// Blocks after which a miner transaction's outputs can be spent.
pub const UNLOCK_WINDOW: u64 = 60;

/// A block as it was told, whole or only what is hashed, and what was said about it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Candidate<'a> {
    /// The block blob.
    pub block: Option<&'a [u8]>,
    /// The hashing blob. Beside a block blob it is held against that one's.
    pub hashing_blob: Option<&'a [u8]>,
    /// The id that the block should have.
    pub id: Option<Hash>,
    /// The height that the block should have.
    pub height: Option<u64>,
}

/// What a block tells about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Examination {
    /// The checks that need nothing but the block, from `block` to `id`.
    pub checks: Vec<Check>,
    /// What is to be hashed, where it could be read.
    pub hashing_blob: Option<HashingBlob>,
    /// The block's id, where it could be read.
    pub id: Option<Hash>,
    /// The miner transaction's height, or else the one that was given.
    pub height: Option<u64>,
}

/// Looks at a block by itself: whether it can be read, agrees with what was said about it, and is
/// one whose proof of work RandomX is. What it should follow on is a [`Chain`](crate::Chain)'s question.
pub fn examine(candidate: &Candidate<'_>, layout: Layout) -> Examination {
    let (block, blob, mut checks) = read(candidate, layout);
    let id = blob.as_ref().map(HashingBlob::id);
    let height = block.as_ref().map(Block::height).or(candidate.height);
    if let (Some(blob), Some(id)) = (&blob, &id) {
        checks.push(version(blob.header.major_version));
        checks.push(height_of(block.as_ref(), candidate.height));
        checks.push(miner_transaction(block.as_ref(), candidate.height));
        checks.push(match &candidate.id {
            Some(expected) => CheckName::Id.is_hash(expected, id),
            None => CheckName::Id.not_asked("no id was given"),
        });
    } else {
        let rest =
            [CheckName::Version, CheckName::Height, CheckName::MinerTransaction, CheckName::Id];
        checks.extend(rest.map(|name| name.not_asked("the block could not be read")));
    }
    Examination { checks, hashing_blob: blob, id, height }
}

/// The block, its hashing blob, and the checks of both.
fn read(
    candidate: &Candidate<'_>,
    layout: Layout,
) -> (Option<Block>, Option<HashingBlob>, Vec<Check>) {
    use CheckName::{Block as Whole, HashingBlob as Blob};
    match (candidate.block, candidate.hashing_blob) {
        (Some(bytes), given) => match Block::parse(bytes, layout) {
            Ok(block) => {
                let blob = block.hashing_blob().clone();
                let checks = vec![
                    Whole.passed(format!("a block of {} bytes", bytes.len())),
                    same_blob(given, &blob),
                ];
                (Some(block), Some(blob), checks)
            }
            Err(error) => {
                let unread = Blob.not_asked("the block could not be read");
                (None, None, vec![Whole.failed(error.to_string()), unread])
            }
        },
        (None, Some(bytes)) => match HashingBlob::parse(bytes, layout) {
            Ok(blob) => {
                let detail = format!("a hashing blob of {} bytes", bytes.len());
                let alone = Blob.not_asked("there is no block to compare it with");
                (None, Some(blob), vec![Whole.passed(detail), alone])
            }
            Err(error) => {
                let unread = Blob.not_asked("it could not be read");
                (None, None, vec![Whole.failed(error.to_string()), unread])
            }
        },
        (None, None) => {
            let detail = "neither a block nor a hashing blob was given";
            (None, None, vec![Whole.failed(detail), Blob.not_asked(detail)])
        }
    }
}

fn same_blob(given: Option<&[u8]>, blob: &HashingBlob) -> Check {
    match given {
        None => CheckName::HashingBlob.not_asked("no hashing blob was given"),
        Some(given) if given == blob.as_bytes() => {
            CheckName::HashingBlob.passed("the given hashing blob is the block's")
        }
        Some(_) => CheckName::HashingBlob.failed("the given hashing blob is not the block's"),
    }
}

fn version(major_version: u8) -> Check {
    CheckName::Version.holds(
        major_version >= RANDOMX_VERSION,
        format!(
            "major version {major_version}; RandomX is the proof of work from {RANDOMX_VERSION} on"
        ),
    )
}

fn height_of(block: Option<&Block>, expected: Option<u64>) -> Check {
    match (block, expected) {
        (Some(block), Some(expected)) => {
            let got = block.height();
            let detail = format!("expected {expected}, the miner transaction says {got}");
            CheckName::Height.holds(got == expected, detail)
        }
        (Some(block), None) => {
            let detail = format!("the miner transaction says {}; none was given", block.height());
            CheckName::Height.not_asked(detail)
        }
        (None, _) => CheckName::Height.not_asked("a hashing blob does not tell its height"),
    }
}

fn miner_transaction(block: Option<&Block>, height: Option<u64>) -> Check {
    let name = CheckName::MinerTransaction;
    let Some(block) = block else {
        return name.not_asked("a hashing blob does not contain it");
    };
    let transaction = &block.miner_transaction;
    let height = height.unwrap_or(transaction.height);
    let unlock = height.saturating_add(UNLOCK_WINDOW);
    name.holds(
        transaction.version == 2 && transaction.unlock_height == unlock,
        format!(
            "expected version 2 and unlock time {unlock}, got version {} and unlock time {}",
            transaction.version, transaction.unlock_height
        ),
    )
}
