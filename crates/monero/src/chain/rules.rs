//! The rules that compare a block with those before it.

use super::{Chain, ChainError};
use crate::anchor::Anchor;
use crate::checkpoint::Seed;
use crate::checks::{Check, CheckName, Outcome};
use crate::difficulty::Difficulty;
use crate::hash::{Hash, Hex};
use crate::header::BlockHeader;
use crate::history::Demand;
use crate::network::Network;
use crate::retarget::DIFFICULTY_BLOCKS;
use crate::seed::seed_height;
use crate::timestamp::TIMESTAMP_FUTURE_LIMIT;

/// A difficulty, and the same as the number that the difficulty rule sums.
type DifficultyNumber = (Difficulty, u128);

/// Compares the height that the source gives with the chain's. The height inside the block is
/// compared already.
pub(super) fn check_given_height(checks: &mut [Check], expected: u64, given: Option<u64>) {
    let Some(check) = checks.iter_mut().find(|check| check.name == CheckName::Height) else {
        return;
    };
    let detail = |given| format!("expected {expected}, the source gives {given}");
    match given {
        Some(given) if given != expected => *check = CheckName::Height.failed(detail(given)),
        Some(given) if check.outcome == Outcome::NotChecked => {
            *check = CheckName::Height.passed(detail(given));
        }
        _ => {}
    }
}

/// Compares the id with the one that Monero's source code names for the height, if it does.
pub(super) fn check_anchor(checks: &mut [Check], network: Network, height: u64, id: &Hash) {
    let anchor = Anchor::all(network).iter().find(|anchor| anchor.height == height);
    let check = checks.iter_mut().find(|check| check.name == CheckName::Id);
    if let (Some(anchor), Some(check)) = (anchor.filter(|anchor| anchor.id != *id), check) {
        *check = CheckName::Id.is_hash(&anchor.id, id);
    }
}

impl Chain {
    pub(super) fn check_previous_id(&self, header: &BlockHeader) -> Check {
        match &self.tip {
            Some(tip) => CheckName::PreviousId.is_hash(&tip.id, &header.previous_id),
            None => CheckName::PreviousId.not_checked(format!(
                "trusted, since the chain begins here: {}",
                Hex(&header.previous_id)
            )),
        }
    }

    pub(super) fn check_timestamps(&self, timestamp: u64, now: u64) -> [Check; 2] {
        let name = CheckName::TimestampMedian;
        let median = match self.history.median(self.height) {
            Demand::Ruled(median) => {
                let detail = format!("expected at least the median {median}, got {timestamp}");
                name.passes_if(timestamp >= median, detail)
            }
            Demand::Nothing => name.passed("the rule begins after 60 blocks"),
            Demand::Unknown => name.not_checked("fewer than 60 earlier blocks are known"),
        };
        let latest = now.saturating_add(TIMESTAMP_FUTURE_LIMIT);
        let future = CheckName::TimestampFuture.passes_if(
            timestamp <= latest,
            format!("expected at most {latest}, two hours ahead, got {timestamp}"),
        );
        [median, future]
    }

    /// Returns the seed hash of the next block: the chain's own, or else the given one.
    pub(super) fn check_seed(&self, given: Option<Hash>) -> Result<(Check, Seed), ChainError> {
        let (name, height) = (CheckName::SeedHash, seed_height(self.height));
        let known = self.seeds.iter().find(|seed| seed.height == height);
        match (known, given) {
            (Some(&seed), Some(given)) => Ok((name.is_hash(&seed.id, &given), seed)),
            (Some(&seed), None) => {
                let detail = format!("computed: the id of block {height}, {}", Hex(&seed.id));
                Ok((name.passed(detail), seed))
            }
            (None, Some(id)) => {
                let detail = format!("trusted, since block {height} is unknown: {}", Hex(&id));
                Ok((name.not_checked(detail), Seed { height, id }))
            }
            (None, None) => Err(ChainError::SeedHashNeeded { seed_height: height }),
        }
    }

    /// Returns the difficulty of the next block: the rule's, or else the given one. `None` if there
    /// can be none.
    pub(super) fn check_difficulty(
        &mut self,
        given: Option<Difficulty>,
    ) -> Result<(Check, Option<DifficultyNumber>), ChainError> {
        let name = CheckName::Difficulty;
        let none = || name.failed("the rule yields no difficulty");
        let demand = match self.fixed_difficulty {
            Some(fixed) => Demand::Ruled(fixed),
            None => self.history.difficulty(self.height),
        };
        match (demand, given) {
            (Demand::Ruled(number), given) => Ok(match Difficulty::try_from(number) {
                Ok(difficulty) => {
                    (self.compare_difficulties(difficulty, given), Some((difficulty, number)))
                }
                Err(_) => (none(), None),
            }),
            (Demand::Nothing, _) => Ok((none(), None)),
            (Demand::Unknown, None) => Err(ChainError::DifficultyNeeded),
            (Demand::Unknown, Some(given)) => Ok(match given.as_u128() {
                Some(number) => {
                    let detail = format!(
                        "trusted, since fewer than {DIFFICULTY_BLOCKS} earlier blocks are known: \
                         {given}"
                    );
                    (name.not_checked(detail), Some((given, number)))
                }
                None => (name.failed(format!("expected less than 2^128, got {given}")), None),
            }),
        }
    }

    /// Returns the chain's work with one more block, or a failed check if it is out of range.
    pub(super) fn work_with(&self, difficulty: u128) -> Result<u128, Check> {
        let work = self.history.work_with(self.work, difficulty);
        let none = || CheckName::Difficulty.failed("the chain's work would be 2^127 or more");
        work.ok_or_else(none)
    }

    fn compare_difficulties(&self, expected: Difficulty, given: Option<Difficulty>) -> Check {
        let name = CheckName::Difficulty;
        match given {
            None => name.passed(format!("computed: {expected}")),
            Some(given) if given == expected => name.passed(given.to_string()),
            Some(given) if self.fixed_difficulty.is_some() => {
                name.failed(format!("expected the fixed difficulty {expected}, got {given}"))
            }
            Some(given) => name.failed(format!(
                "the rule demands {expected}, the source gives {given}; a node that runs with \
                 --fixed-difficulty needs the same setting here"
            )),
        }
    }
}
