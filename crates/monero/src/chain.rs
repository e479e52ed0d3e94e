//! A chain, judged block by block.

mod error;
mod rules;
mod settle;

use std::collections::VecDeque;

use crate::candidate::{Candidate, examine};
use crate::checkpoint::{Checkpoint, CheckpointError, MAX_HEIGHT, RecentBlock, Seed};
use crate::checks::{Check, CheckName, Status};
use crate::difficulty::Difficulty;
use crate::hash::Hash;
use crate::header::HashingBlob;
use crate::history::History;
use crate::network::Network;
use crate::retarget::DIFFICULTY_BLOCKS;
use crate::seed::{SEED_EPOCH_BLOCKS, seed_height};

pub use error::ChainError;
pub use settle::Verdict;

/// A block to add to a chain, with what its source says about it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Link<'a> {
    /// The block, its id and its height.
    pub block: Candidate<'a>,
    /// The seed hash. It is trusted if the chain does not know the block at the seed height.
    pub seed_hash: Option<Hash>,
    /// The difficulty. It is trusted if the chain knows too few blocks to compute it.
    pub difficulty: Option<Difficulty>,
}

/// A proof of work to check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Work {
    /// The RandomX key.
    pub seed_hash: Hash,
    /// The RandomX input.
    pub hashing_blob: Vec<u8>,
    /// The difficulty that the hash must meet.
    pub difficulty: Difficulty,
}

/// Judges a chain block by block.
///
/// [`push`](Self::push) checks a block and returns the hash to compute; [`settle`](Self::settle)
/// takes the hashes in the same order and returns the verdicts. Further blocks can be pushed in
/// between, so that many are hashed at once. A refused block ends the chain.
#[derive(Clone, Debug)]
pub struct Chain {
    network: Network,
    /// The difficulty of every block, if it does not follow the rule.
    fixed_difficulty: Option<u128>,
    /// Whether the chain began with a checkpoint that passed all checks.
    complete_start: bool,
    tip: Option<Tip>,
    /// The chain's work up to that block.
    work: u128,
    /// The height of the next block.
    height: u64,
    history: History,
    seeds: Vec<Seed>,
    pending: VecDeque<Pending>,
    start: Option<Checkpoint>,
    /// The checkpoint of the last valid block.
    proven: Option<Checkpoint>,
    refused: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
struct Tip {
    height: u64,
    id: Hash,
}

#[derive(Clone, Debug)]
struct Pending {
    height: u64,
    id: Option<Hash>,
    transaction_ids: Vec<Hash>,
    checks: Vec<Check>,
    difficulty: Option<Difficulty>,
    work: u128,
}

impl Chain {
    /// The most blocks that can wait for their hashes.
    pub const MAX_PENDING: usize = 1024;

    /// Continues a network's chain after a checkpoint.
    ///
    /// # Errors
    ///
    /// If the checkpoint is malformed, incomplete or implausible.
    pub fn resume(checkpoint: Checkpoint, network: Network) -> Result<Self, CheckpointError> {
        checkpoint.check(network)?;
        Ok(Self { complete_start: true, ..Self::after(checkpoint, network) })
    }

    /// Continues after a checkpoint that may be incomplete or implausible. Verdicts say so.
    ///
    /// # Errors
    ///
    /// If the checkpoint is malformed.
    pub fn resume_unchecked(
        checkpoint: Checkpoint,
        network: Network,
    ) -> Result<Self, CheckpointError> {
        checkpoint.check_form()?;
        let complete_start = checkpoint.check(network).is_ok();
        Ok(Self { complete_start, ..Self::after(checkpoint, network) })
    }

    /// Begins with the block at a height. Its predecessor, seed hash and difficulty are trusted, and
    /// likewise for later blocks until enough blocks are known. Verdicts say so.
    ///
    /// # Errors
    ///
    /// If the height is too great.
    pub fn begin_at(height: u64, network: Network) -> Result<Self, CheckpointError> {
        if height > MAX_HEIGHT {
            return Err(CheckpointError::FirstHeight);
        }
        Ok(Self::empty(height, network))
    }

    fn empty(height: u64, network: Network) -> Self {
        Self {
            network,
            fixed_difficulty: None,
            complete_start: false,
            tip: None,
            work: 0,
            height,
            history: History::new(Vec::new()),
            seeds: Vec::new(),
            pending: VecDeque::new(),
            start: None,
            proven: None,
            refused: None,
        }
    }

    fn after(checkpoint: Checkpoint, network: Network) -> Self {
        let Checkpoint { height, id, work, ref recent, ref seeds } = checkpoint;
        Self {
            tip: Some(Tip { height, id }),
            work,
            history: History::new(recent.clone()),
            seeds: seeds.clone(),
            start: Some(checkpoint),
            ..Self::empty(height + 1, network)
        }
    }

    /// Demands the same difficulty of every block, like a daemon with `--fixed-difficulty`.
    pub fn with_fixed_difficulty(self, difficulty: u128) -> Self {
        Self { fixed_difficulty: Some(difficulty), ..self }
    }

    /// Returns the height of the block to push next.
    pub fn next_height(&self) -> u64 {
        self.height
    }

    /// Returns the number of blocks that wait to be settled.
    pub fn pending(&self) -> usize {
        self.pending.len()
    }

    /// Checks the next block at the time `now`, in seconds since 1970, and returns the hash to
    /// compute, or `None` if the block is refused whatever its hash.
    ///
    /// # Errors
    ///
    /// If the chain takes no block, or needs a value that `link` lacks ([`Link::seed_hash`],
    /// [`Link::difficulty`]). The chain does not change then.
    pub fn push(&mut self, link: &Link<'_>, now: u64) -> Result<Option<Work>, ChainError> {
        if let Some(height) = self.refused {
            return Err(ChainError::Refused { height });
        }
        if self.pending.len() == Self::MAX_PENDING {
            return Err(ChainError::TooManyPending);
        }
        if self.height > MAX_HEIGHT {
            return Err(ChainError::TooHigh);
        }
        let expected = Candidate { height: Some(self.height), ..link.block };
        let examination = examine(&expected, self.network);
        let mut checks = examination.checks;
        rules::check_given_height(&mut checks, self.height, link.block.height);
        let pending = Pending {
            height: self.height,
            id: examination.id,
            transaction_ids: examination.transaction_ids,
            checks: Vec::new(),
            difficulty: None,
            work: self.work,
        };
        let (Some(blob), Some(id)) = (examination.hashing_blob, examination.id) else {
            let unparsed = |&name: &CheckName| name.not_checked("the block could not be parsed");
            checks.extend(CheckName::ALL[checks.len()..].iter().map(unparsed));
            self.refuse(Pending { checks, ..pending });
            return Ok(None);
        };
        rules::check_anchor(&mut checks, self.network, self.height, &id);
        checks.push(self.check_previous_id(&blob.header));
        checks.extend(self.check_timestamps(blob.header.timestamp, now));
        let (seed_check, seed) = self.check_seed(link.seed_hash)?;
        let (difficulty_check, difficulty) = self.check_difficulty(link.difficulty)?;
        let work = difficulty.map(|(_, number)| self.work_with(number)).transpose();
        let (difficulty_check, work) = match work {
            Ok(work) => (difficulty_check, work),
            Err(failed) => (failed, None),
        };
        checks.extend([seed_check, difficulty_check]);
        let accepted = Status::of(&checks).is_accepted();
        match (difficulty, work) {
            (Some((difficulty, number)), Some(work)) if accepted => {
                self.extend(Tip { height: self.height, id }, &blob, number, seed);
                self.work = work;
                let pending = Pending { checks, difficulty: Some(difficulty), work, ..pending };
                self.pending.push_back(pending);
                self.height += 1;
                let hashing_blob = blob.as_bytes().to_vec();
                Ok(Some(Work { seed_hash: seed.id, hashing_blob, difficulty }))
            }
            _ => {
                let refused = "the block is refused whatever its hash";
                checks.push(CheckName::ProofOfWork.not_checked(refused));
                self.refuse(Pending { checks, ..pending });
                Ok(None)
            }
        }
    }

    fn refuse(&mut self, pending: Pending) {
        self.refused = Some(pending.height);
        self.pending.push_back(pending);
    }

    /// Appends a block whose proof of work is not known yet.
    fn extend(&mut self, tip: Tip, blob: &HashingBlob, difficulty: u128, seed: Seed) {
        let Tip { height, id } = tip;
        let block = RecentBlock { timestamp: blob.header.timestamp, difficulty };
        self.history.push(block, DIFFICULTY_BLOCKS + self.pending.len());
        if !self.seeds.contains(&seed) {
            self.seeds.push(seed);
        }
        if height.is_multiple_of(SEED_EPOCH_BLOCKS) {
            self.seeds.push(Seed { height, id });
        }
        let first = self.pending.front().map_or(height, |pending| pending.height);
        let oldest = seed_height(first);
        self.seeds.retain(|seed| seed.height >= oldest);
        self.seeds.sort_unstable_by_key(|seed| seed.height);
        self.tip = Some(tip);
    }
}
