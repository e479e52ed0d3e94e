//! What was looked at, one thing at a time, so that a reader can see why.

use std::fmt;

use crate::difficulty::Difficulty;
use crate::hash::{Hash, Hex};

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// Which one.
    pub name: CheckName,
    /// How it went.
    pub outcome: Outcome,
    /// What was compared, in a sentence.
    pub detail: String,
}

/// How a check went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The rule holds.
    Passed,
    /// The rule is broken: the block is not valid.
    Failed,
    /// There was nothing to compare with, or the caller did not want to know.
    NotAsked,
}

/// Which check. The names that [`CheckName::as_str`] gives stay the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CheckName {
    /// The bytes are a block, or a hashing blob.
    Block,
    /// A hashing blob that came with a block is the block's.
    HashingBlob,
    /// RandomX is the proof of work of the block's major version.
    Version,
    /// The height is the miner transaction's, and the next one of the chain.
    Height,
    /// The miner transaction has the version and the unlock time that the rules demand.
    MinerTransaction,
    /// The id is the one that was expected.
    Id,
    /// The block names the one before it.
    PreviousId,
    /// The timestamp is not before the median of the last 60 blocks.
    TimestampMedian,
    /// The timestamp is at most two hours ahead of the clock.
    TimestampFuture,
    /// The seed hash is the id of the block at the seed height.
    SeedHash,
    /// The difficulty is the one that the rule demands.
    Difficulty,
    /// The RandomX hash meets the difficulty.
    ProofOfWork,
}

impl CheckName {
    /// All of them, in the order in which they are made.
    pub const ALL: [Self; 12] = [
        Self::Block,
        Self::HashingBlob,
        Self::Version,
        Self::Height,
        Self::MinerTransaction,
        Self::Id,
        Self::PreviousId,
        Self::TimestampMedian,
        Self::TimestampFuture,
        Self::SeedHash,
        Self::Difficulty,
        Self::ProofOfWork,
    ];

    /// The name in lower case, such as `proof-of-work`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Block => "block",
            Self::HashingBlob => "hashing-blob",
            Self::Version => "version",
            Self::Height => "height",
            Self::MinerTransaction => "miner-transaction",
            Self::Id => "id",
            Self::PreviousId => "previous-id",
            Self::TimestampMedian => "timestamp-median",
            Self::TimestampFuture => "timestamp-future",
            Self::SeedHash => "seed-hash",
            Self::Difficulty => "difficulty",
            Self::ProofOfWork => "proof-of-work",
        }
    }

    pub(crate) fn passed(self, detail: impl Into<String>) -> Check {
        Check { name: self, outcome: Outcome::Passed, detail: detail.into() }
    }

    pub(crate) fn failed(self, detail: impl Into<String>) -> Check {
        Check { name: self, outcome: Outcome::Failed, detail: detail.into() }
    }

    pub(crate) fn not_asked(self, detail: impl Into<String>) -> Check {
        Check { name: self, outcome: Outcome::NotAsked, detail: detail.into() }
    }

    /// Passed where a rule holds; the sentence says what was compared either way.
    pub(crate) fn holds(self, rule: bool, detail: impl Into<String>) -> Check {
        if rule { self.passed(detail) } else { self.failed(detail) }
    }

    /// Passed where a hash is the expected one.
    pub(crate) fn is_hash(self, expected: &Hash, got: &Hash) -> Check {
        if expected == got {
            self.passed(Hex(got).to_string())
        } else {
            self.failed(format!("expected {}, got {}", Hex(expected), Hex(got)))
        }
    }
}

impl fmt::Display for CheckName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let outcome = match self.outcome {
            Outcome::Passed => "passed",
            Outcome::Failed => "failed",
            Outcome::NotAsked => "not asked",
        };
        write!(f, "{} {outcome}: {}", self.name, self.detail)
    }
}

/// Whether nothing failed.
pub fn all_hold(checks: &[Check]) -> bool {
    checks.iter().all(|check| check.outcome != Outcome::Failed)
}

/// The check of a block's RandomX hash.
pub fn proof_of_work(hash: &Hash, difficulty: &Difficulty) -> Check {
    let met = difficulty.is_met_by(hash);
    let verb = if met { "meets" } else { "does not meet" };
    let detail = format!("the hash {verb} the difficulty {difficulty}");
    CheckName::ProofOfWork.holds(met, detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_in_lower_case() {
        let mut names = CheckName::ALL.map(CheckName::as_str);
        for name in names {
            assert!(name.bytes().all(|byte| byte == b'-' || byte.is_ascii_lowercase()), "{name}");
        }
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
    }

    #[test]
    fn the_proof_of_work_is_held_against_the_difficulty() {
        let difficulty = "2".parse().expect("a difficulty");
        let met = proof_of_work(&[0x7f; 32], &difficulty);
        assert_eq!(met.outcome, Outcome::Passed);
        let missed = proof_of_work(&[0x80; 32], &difficulty);
        assert_eq!(missed.outcome, Outcome::Failed);
        let sentence = "proof-of-work failed: the hash does not meet the difficulty 2";
        assert_eq!(missed.to_string(), sentence);
        assert!(all_hold(std::slice::from_ref(&met)));
        assert!(!all_hold(&[met, missed]));
    }
}
