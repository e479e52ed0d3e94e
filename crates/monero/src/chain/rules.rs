//! What the blocks before a block demand of it.

use super::{Chain, ChainError};
use crate::checkpoint::Seed;
use crate::checks::{Check, CheckName, Outcome};
use crate::difficulty::Difficulty;
use crate::hash::{Hash, Hex};
use crate::header::BlockHeader;
use crate::history::Demand;
use crate::retarget::DIFFICULTY_BLOCKS;
use crate::seed::seed_height;
use crate::timestamp::TIMESTAMP_FUTURE_LIMIT;

/// A difficulty, and the number that the difficulty rule adds up.
type DifficultyNumber = (Difficulty, u128);

/// Holds the height that was told for a block against the chain's, beside the one that the block
/// says itself.
pub(super) fn told_height(checks: &mut [Check], expected: u64, told: Option<u64>) {
    let Some(check) = checks.iter_mut().find(|check| check.name == CheckName::Height) else {
        return;
    };
    match told {
        Some(told) if told != expected => {
            *check = CheckName::Height.failed(format!("expected {expected}, was told {told}"));
        }
        Some(told) if check.outcome == Outcome::NotAsked => {
            *check = CheckName::Height.passed(format!("expected {expected}, was told {told}"));
        }
        _ => {}
    }
}

impl Chain {
    pub(super) fn previous_id(&self, header: &BlockHeader) -> Check {
        match &self.tip {
            Some(tip) => CheckName::PreviousId.is_hash(&tip.id, &header.previous_id),
            None => CheckName::PreviousId.not_asked(format!(
                "believed, since the chain begins here: {}",
                Hex(&header.previous_id)
            )),
        }
    }

    pub(super) fn timestamps(&self, timestamp: u64, now: u64) -> [Check; 2] {
        let name = CheckName::TimestampMedian;
        let median = match self.history.median(self.height) {
            Demand::Ruled(median) => {
                let detail = format!("expected at least the median {median}, got {timestamp}");
                name.holds(timestamp >= median, detail)
            }
            Demand::Nothing => name.passed("nothing is demanded of the first 60 blocks"),
            Demand::Unknown => name.not_asked("fewer than 60 blocks before it are known"),
        };
        let latest = now.saturating_add(TIMESTAMP_FUTURE_LIMIT);
        let future = CheckName::TimestampFuture.holds(
            timestamp <= latest,
            format!("expected at most {latest}, two hours ahead, got {timestamp}"),
        );
        [median, future]
    }

    /// The seed hash of the next block: the chain's own, or else the one that was told.
    pub(super) fn seed(&self, told: Option<Hash>) -> Result<(Check, Seed), ChainError> {
        let (name, height) = (CheckName::SeedHash, seed_height(self.height));
        let known = self.seeds.iter().find(|seed| seed.height == height);
        match (known, told) {
            (Some(&seed), Some(told)) => Ok((name.is_hash(&seed.id, &told), seed)),
            (Some(&seed), None) => {
                let detail = format!("the id of block {height}: {}; none was told", Hex(&seed.id));
                Ok((name.not_asked(detail), seed))
            }
            (None, Some(id)) => {
                let detail = format!("believed, since block {height} is not known: {}", Hex(&id));
                Ok((name.not_asked(detail), Seed { height, id }))
            }
            (None, None) => Err(ChainError::SeedHashNeeded { seed_height: height }),
        }
    }

    /// The difficulty of the next block, if there can be one: the rule's, or else the one that
    /// was told.
    pub(super) fn difficulty(
        &self,
        told: Option<Difficulty>,
    ) -> Result<(Check, Option<DifficultyNumber>), ChainError> {
        let name = CheckName::Difficulty;
        let nothing = || name.failed("the rule comes to no difficulty");
        let demand = match self.fixed_difficulty {
            Some(fixed) => Demand::Ruled(fixed),
            None => self.history.difficulty(self.height),
        };
        match (demand, told) {
            (Demand::Ruled(number), told) => Ok(match Difficulty::try_from(number) {
                Ok(difficulty) => (demanded(difficulty, told), Some((difficulty, number))),
                Err(_) => (nothing(), None),
            }),
            (Demand::Nothing, _) => Ok((nothing(), None)),
            (Demand::Unknown, None) => Err(ChainError::DifficultyNeeded),
            (Demand::Unknown, Some(told)) => Ok(match told.as_u128() {
                Some(number) => (believed(told), Some((told, number))),
                None => (name.failed(format!("expected less than 2^128, was told {told}")), None),
            }),
        }
    }
}

fn demanded(difficulty: Difficulty, told: Option<Difficulty>) -> Check {
    let name = CheckName::Difficulty;
    match told {
        Some(told) => {
            let detail = format!("the rule demands {difficulty}, was told {told}");
            name.holds(told == difficulty, detail)
        }
        None => name.not_asked(format!("the rule demands {difficulty}; none was told")),
    }
}

fn believed(told: Difficulty) -> Check {
    CheckName::Difficulty.not_asked(format!(
        "believed, since fewer than {DIFFICULTY_BLOCKS} blocks before it are known: {told}"
    ))
}
