//! Block after block, each judged by those before it.

mod rules;

use std::collections::VecDeque;
use std::{error, fmt};

use crate::candidate::{Candidate, examine};
use crate::checkpoint::{Checkpoint, CheckpointError, MAX_HEIGHT, RecentBlock, Seed};
use crate::checks::{self, Check, CheckName, all_hold};
use crate::difficulty::Difficulty;
use crate::hash::Hash;
use crate::header::{HashingBlob, Layout};
use crate::history::History;
use crate::retarget::DIFFICULTY_BLOCKS;
use crate::seed::{SEED_EPOCH_BLOCKS, seed_height};

/// A block for a chain, and what was said about it. What the chain knows by itself is held against it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Link<'a> {
    /// The block, its id and its height.
    pub block: Candidate<'a>,
    /// The seed hash. It is believed where the chain does not know the block at the seed height.
    pub seed_hash: Option<Hash>,
    /// The difficulty. It is believed where the chain does not know enough blocks to compute it.
    pub difficulty: Option<Difficulty>,
}

/// The proof of work that is to be looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Work {
    /// The RandomX key.
    pub seed_hash: Hash,
    /// The input.
    pub hashing_blob: Vec<u8>,
    /// What the hash must meet.
    pub difficulty: Difficulty,
}

/// What is to be said about a block of a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Whether nothing failed.
    pub valid: bool,
    /// The height that the block has in the chain.
    pub height: u64,
    /// Its id, if it could be read.
    pub id: Option<Hash>,
    /// Its RandomX hash, if it was computed.
    pub hash: Option<Hash>,
    /// Every check, in the order of [`CheckName::ALL`].
    pub checks: Vec<Check>,
}

/// Judges a chain block by block.
///
/// The rules are those since RandomX became the proof of work: see [`CheckName`].
///
/// [`push`](Self::push) looks at a block and says which hash is wanted, and [`settle`](Self::settle)
/// takes the hashes in the same order and gives the verdicts. In between, others may be pushed, so
/// that many are hashed at once. After a block that is not valid there is no other.
#[derive(Clone, Debug)]
pub struct Chain {
    layout: Layout,
    /// The difficulty of every block, if that is no matter of the rule.
    fixed_difficulty: Option<u128>,
    /// The last block that was pushed.
    tip: Option<Tip>,
    /// The height of the block that is pushed next.
    height: u64,
    history: History,
    seeds: Vec<Seed>,
    pending: VecDeque<Pending>,
    /// The last block that was settled.
    settled: Option<Tip>,
    /// Of the block that was not valid.
    broken: Option<u64>,
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
    checks: Vec<Check>,
    difficulty: Option<Difficulty>,
}

impl Chain {
    /// The most blocks that can wait for their hashes.
    pub const MAX_PENDING: usize = 1024;

    /// Goes on after a checkpoint.
    ///
    /// # Errors
    ///
    /// When the checkpoint is none.
    pub fn resume(checkpoint: Checkpoint, layout: Layout) -> Result<Self, CheckpointError> {
        checkpoint.check()?;
        let tip = Tip { height: checkpoint.height, id: checkpoint.id };
        Ok(Self {
            layout,
            fixed_difficulty: None,
            tip: Some(tip),
            height: tip.height + 1,
            history: History::new(checkpoint.recent),
            seeds: checkpoint.seeds,
            pending: VecDeque::new(),
            settled: Some(tip),
            broken: None,
        })
    }

    /// Begins with the block at a height, about which everything is believed that only blocks before
    /// it could tell: what it follows on, its seed hash and its difficulty, and so on for the blocks
    /// after it until there are enough.
    ///
    /// # Errors
    ///
    /// When the height is too great.
    pub fn begin_at(height: u64, layout: Layout) -> Result<Self, CheckpointError> {
        if height > MAX_HEIGHT {
            return Err(CheckpointError::Height);
        }
        Ok(Self {
            layout,
            fixed_difficulty: None,
            tip: None,
            height,
            history: History::new(Vec::new()),
            seeds: Vec::new(),
            pending: VecDeque::new(),
            settled: None,
            broken: None,
        })
    }

    /// Demands the same difficulty of every block, as Monero's daemon does with
    /// `--fixed-difficulty` on a chain for tests.
    pub fn with_fixed_difficulty(self, difficulty: u128) -> Self {
        Self { fixed_difficulty: Some(difficulty), ..self }
    }

    /// The height of the block that is pushed next.
    pub fn next_height(&self) -> u64 {
        self.height
    }

    /// How many blocks wait to be settled.
    pub fn pending(&self) -> usize {
        self.pending.len()
    }

    /// Looks at the next block, `now` being the time in seconds since 1970, and says whose hash is
    /// wanted: `None` if the block is not valid whatever its hash.
    ///
    /// # Errors
    ///
    /// When the chain takes no block, or must be told what it cannot know ([`Link::seed_hash`],
    /// [`Link::difficulty`]). The chain is as it was.
    pub fn push(&mut self, link: &Link<'_>, now: u64) -> Result<Option<Work>, ChainError> {
        if let Some(height) = self.broken {
            return Err(ChainError::Broken { height });
        }
        if self.pending.len() == Self::MAX_PENDING {
            return Err(ChainError::TooManyPending);
        }
        if self.height > MAX_HEIGHT {
            return Err(ChainError::TooHigh);
        }
        let expected = Candidate { height: Some(self.height), ..link.block };
        let examination = examine(&expected, self.layout);
        let mut checks = examination.checks;
        rules::told_height(&mut checks, self.height, link.block.height);
        let (Some(blob), Some(id)) = (examination.hashing_blob, examination.id) else {
            let unread = |&name: &CheckName| name.not_asked("the block could not be read");
            checks.extend(CheckName::ALL[checks.len()..].iter().map(unread));
            self.refuse(checks, None);
            return Ok(None);
        };
        checks.push(self.previous_id(&blob.header));
        checks.extend(self.timestamps(blob.header.timestamp, now));
        let (seed_check, seed) = self.seed(link.seed_hash)?;
        let (difficulty_check, difficulty) = self.difficulty(link.difficulty)?;
        checks.extend([seed_check, difficulty_check]);
        match difficulty {
            Some((difficulty, number)) if all_hold(&checks) => {
                let height = self.height;
                self.extend(Tip { height, id }, &blob, number, seed);
                let wanted = Some(difficulty);
                self.pending.push_back(Pending {
                    height,
                    id: Some(id),
                    checks,
                    difficulty: wanted,
                });
                self.height += 1;
                let hashing_blob = blob.as_bytes().to_vec();
                Ok(Some(Work { seed_hash: seed.id, hashing_blob, difficulty }))
            }
            _ => {
                let unwanted = "the block is not valid whatever its hash";
                checks.push(CheckName::ProofOfWork.not_asked(unwanted));
                self.refuse(checks, Some(id));
                Ok(None)
            }
        }
    }

    /// Gives the verdict on the block that was pushed first of those that wait, by its hash.
    ///
    /// Without a hash the proof of work is not looked at. Who looks at one in `n`, chosen so that
    /// nobody could know, misses `k` forged blocks with a chance of `(1 - 1/n)^k`, so the last one
    /// should always be looked at. All other rules hold for every block.
    ///
    /// # Errors
    ///
    /// When no block waits.
    pub fn settle(&mut self, hash: Option<Hash>) -> Result<Verdict, ChainError> {
        let Some(Pending { height, id, mut checks, difficulty }) = self.pending.pop_front() else {
            return Err(ChainError::NothingPending);
        };
        if let Some(difficulty) = &difficulty {
            checks.push(match &hash {
                Some(hash) => checks::proof_of_work(hash, difficulty),
                None => CheckName::ProofOfWork.not_asked("the block was not among the sample"),
            });
        }
        let valid = all_hold(&checks);
        match id {
            Some(id) if valid => self.settled = Some(Tip { height, id }),
            _ => self.cut(height, usize::from(difficulty.is_some())),
        }
        let hash = hash.filter(|_| difficulty.is_some());
        Ok(Verdict { valid, height, id, hash, checks })
    }

    /// The chain up to the last block that was settled and valid. `None` before the first one of a
    /// chain that began without a checkpoint.
    pub fn checkpoint(&self) -> Option<Checkpoint> {
        let Tip { height, id } = self.settled?;
        let recent = self.history.without_newest(self.unsettled());
        let wanted = seed_height(height + 1)..=height;
        let seeds = self.seeds.iter().filter(|seed| wanted.contains(&seed.height));
        Some(Checkpoint { height, id, recent, seeds: seeds.copied().collect() })
    }

    /// How many of the last blocks wait for their hashes.
    fn unsettled(&self) -> usize {
        self.pending.iter().filter(|pending| pending.difficulty.is_some()).count()
    }

    /// Takes no block any more, and forgets all that followed on the one at `height`, and that one
    /// itself where it was part of the chain.
    fn cut(&mut self, height: u64, itself: usize) {
        self.history.drop_newest(self.unsettled() + itself);
        self.pending.clear();
        self.broken = Some(height);
    }

    fn refuse(&mut self, checks: Vec<Check>, id: Option<Hash>) {
        self.pending.push_back(Pending { height: self.height, id, checks, difficulty: None });
        self.broken = Some(self.height);
    }

    /// Makes a block the last one, before its proof of work is known.
    fn extend(&mut self, tip: Tip, blob: &HashingBlob, difficulty: u128, seed: Seed) {
        let Tip { height, id } = tip;
        let block = RecentBlock { timestamp: blob.header.timestamp, difficulty };
        self.history.push(block, DIFFICULTY_BLOCKS + self.pending.len() + 1);
        if !self.seeds.contains(&seed) {
            self.seeds.push(seed);
        }
        if height.is_multiple_of(SEED_EPOCH_BLOCKS) {
            self.seeds.push(Seed { height, id });
        }
        let settled = self.settled.map(|settled| settled.height + 1);
        let first = self.pending.front().map(|pending| pending.height);
        let oldest = seed_height(settled.or(first).unwrap_or(height));
        self.seeds.retain(|seed| seed.height >= oldest);
        self.seeds.sort_unstable_by_key(|seed| seed.height);
        self.tip = Some(tip);
    }
}

/// Why a chain did not do what it was asked to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChainError {
    /// A block was not valid; none can follow on it.
    Broken {
        /// Its height.
        height: u64,
    },
    /// The seed hash is not known, and was not told.
    SeedHashNeeded {
        /// The height of the block that has it as its id.
        seed_height: u64,
    },
    /// The difficulty cannot be computed yet, and was not told.
    DifficultyNeeded,
    /// [`Chain::MAX_PENDING`] blocks wait to be settled.
    TooManyPending,
    /// No block waits to be settled.
    NothingPending,
    /// The next block would be above [`MAX_HEIGHT`].
    TooHigh,
}

impl fmt::Display for ChainError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Broken { height } => {
                write!(f, "the block at height {height} was not valid: none can follow on it")
            }
            Self::SeedHashNeeded { seed_height } => write!(
                f,
                "seed hash: expected the id of block {seed_height}, which the chain does not know"
            ),
            Self::DifficultyNeeded => f.write_str(
                "difficulty: expected one, since the chain does not know enough blocks to compute it",
            ),
            Self::TooManyPending => {
                write!(f, "expected at most {} blocks to wait for their hashes", Chain::MAX_PENDING)
            }
            Self::NothingPending => f.write_str("no block waits for its hash"),
            Self::TooHigh => write!(f, "expected no block above height {MAX_HEIGHT}"),
        }
    }
}

impl error::Error for ChainError {}
