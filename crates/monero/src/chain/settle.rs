//! The verdicts on the blocks of a chain, and the checkpoint that follows from them.

use super::{Chain, ChainError, Pending, Tip};
use crate::checkpoint::Checkpoint;
use crate::checks::{self, Check, CheckName, Status};
use crate::difficulty::Difficulty;
use crate::hash::Hash;
use crate::seed::seed_height;

/// The judgement of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The result. [`Status::Valid`] requires a checked proof of work.
    pub status: Status,
    /// The height that the block has in the chain.
    pub height: u64,
    /// Its id, if it could be parsed.
    pub id: Option<Hash>,
    /// Its RandomX hash, if it was computed.
    pub hash: Option<Hash>,
    /// The difficulty that it had to meet, if it came to that.
    pub difficulty: Option<Difficulty>,
    /// The chain's work up to this block, or up to the one before if this one is refused. Counted
    /// from the chain's start if [`Checkpoint::work`] was unknown there.
    pub work: u128,
    /// Whether the chain began with a complete and plausible checkpoint. If not, difficulties and
    /// seed hashes were trusted until enough blocks were known.
    pub complete_start: bool,
    /// The hashes of the block's transactions, the miner's first. Empty for a hashing blob.
    pub transaction_ids: Vec<Hash>,
    /// All checks, in the order of [`CheckName::ALL`].
    pub checks: Vec<Check>,
}

impl Chain {
    /// Judges the first block that waits by its hash.
    ///
    /// Without a hash the proof of work is not checked, and the best result is
    /// [`Status::Unproven`]. If one block in `n` is checked, chosen after the blocks have arrived,
    /// `k` forged blocks are all missed with a probability of `(1 - 1/n)^k`. Always check the last
    /// block. The other rules are checked for every block.
    ///
    /// # Errors
    ///
    /// If no block waits.
    pub fn settle(&mut self, hash: Option<Hash>) -> Result<Verdict, ChainError> {
        let Some(pending) = self.pending.pop_front() else {
            return Err(ChainError::NothingPending);
        };
        let Pending { height, id, transaction_ids, mut checks, difficulty, work } = pending;
        if let Some(difficulty) = &difficulty {
            checks.push(match &hash {
                Some(hash) => checks::proof_of_work(hash, difficulty),
                None => CheckName::ProofOfWork.not_checked("the block is not in the sample"),
            });
        }
        let status = Status::of(&checks);
        match id {
            Some(id) if status == Status::Valid => {
                self.proven = Some(self.checkpoint_at(Tip { height, id }, work));
            }
            _ if status.is_accepted() => {}
            _ => {
                self.pending.clear();
                self.refused = Some(height);
            }
        }
        let hash = hash.filter(|_| difficulty.is_some());
        let complete_start = self.complete_start;
        let refused_work = difficulty.and_then(|difficulty| difficulty.as_u128()).unwrap_or(0);
        let work = if status.is_accepted() { work } else { work.saturating_sub(refused_work) };
        Ok(Verdict {
            status,
            height,
            id,
            hash,
            difficulty,
            work,
            complete_start,
            transaction_ids,
            checks,
        })
    }

    /// Returns the chain up to the last block whose own proof of work was checked.
    ///
    /// After a refused block this is the checkpoint with which the chain began: blocks before a
    /// forgery that were not in the sample may be forged too. Returns `None` if there is neither.
    pub fn checkpoint(&self) -> Option<Checkpoint> {
        match (&self.refused, &self.proven) {
            (None, Some(proven)) => Some(proven.clone()),
            _ => self.start.clone(),
        }
    }

    /// The checkpoint of the block that was just settled.
    fn checkpoint_at(&self, tip: Tip, work: u128) -> Checkpoint {
        let Tip { height, id } = tip;
        // A sum that does not go back to the genesis block is no chain's work.
        let work = if self.start.as_ref().is_some_and(|start| start.work > 0) { work } else { 0 };
        let unsettled = self.pending.iter().filter(|pending| pending.difficulty.is_some()).count();
        let recent = self.history.without_newest(unsettled);
        let needed = seed_height(height + 1)..=height;
        let seeds = self.seeds.iter().filter(|seed| needed.contains(&seed.height));
        Checkpoint { height, id, work, recent, seeds: seeds.copied().collect() }
    }
}
