//! The checks of a block, one rule at a time, so that a reader sees why a block is refused.

use std::fmt;

use crate::difficulty::Difficulty;
use crate::hash::{Hash, Hex};

/// The result of checking one rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// The rule.
    pub name: CheckName,
    /// The result.
    pub outcome: Outcome,
    /// The values that were compared, as a sentence.
    pub detail: String,
}

/// The outcome of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The block follows the rule.
    Passed,
    /// The block breaks the rule.
    Failed,
    /// The value to compare with is missing, or the caller left the check out.
    NotChecked,
    /// The block's version is newer than this release knows or than it expects at the height, or older than
    /// RandomX.
    UpdateNeeded,
}

/// The judgement that follows from all checks of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// No check failed, and the block's proof of work was computed and meets the difficulty.
    Valid,
    /// No check failed, but the proof of work was not checked: the block was left out of a sample.
    Unproven,
    /// The block's version is newer than this release knows or than it expects at the height, or older than
    /// RandomX. A newer release may judge a newer version.
    UpdateNeeded,
    /// The block breaks a rule.
    Invalid,
}

impl Status {
    /// Judges a block by its checks.
    pub fn of(checks: &[Check]) -> Self {
        let any = |outcome| checks.iter().any(|check| check.outcome == outcome);
        let proven = |check: &Check| {
            check.name == CheckName::ProofOfWork && check.outcome == Outcome::Passed
        };
        // A version of the future may have changed any rule that seems to be broken.
        if any(Outcome::UpdateNeeded) {
            Self::UpdateNeeded
        } else if any(Outcome::Failed) {
            Self::Invalid
        } else if checks.iter().any(proven) {
            Self::Valid
        } else {
            Self::Unproven
        }
    }

    /// The name in lower case, such as `update-needed`. Names do not change between releases.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Valid => "valid",
            Self::Unproven => "unproven",
            Self::UpdateNeeded => "update-needed",
            Self::Invalid => "invalid",
        }
    }

    /// Whether later blocks can follow this one: it is valid, or unproven.
    pub const fn is_accepted(self) -> bool {
        matches!(self, Self::Valid | Self::Unproven)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The name of a rule. The texts of [`CheckName::as_str`] do not change between releases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CheckName {
    /// The bytes are a block, or a hashing blob.
    Block,
    /// The hashing blob given with a block is that block's.
    HashingBlob,
    /// The major version is the network's at this height, and its proof of work is RandomX.
    Version,
    /// The miner votes for at least the block's own version. Not checked before RandomX.
    Vote,
    /// The height in the miner transaction is the expected one.
    Height,
    /// The miner transaction follows the rules that need only the block: version, unlock time,
    /// and its outputs' number, types and sum. Not checked before RandomX.
    MinerTransaction,
    /// No transaction is listed twice.
    Transactions,
    /// The id is the expected one.
    Id,
    /// The block contains the id of the block before it.
    PreviousId,
    /// The timestamp is at least the median of the last 60 blocks.
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
    /// All names, in the order of the checks.
    pub const ALL: [Self; 14] = [
        Self::Block,
        Self::HashingBlob,
        Self::Version,
        Self::Vote,
        Self::Height,
        Self::MinerTransaction,
        Self::Transactions,
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
            Self::Vote => "vote",
            Self::Height => "height",
            Self::MinerTransaction => "miner-transaction",
            Self::Transactions => "transactions",
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

    pub(crate) fn not_checked(self, detail: impl Into<String>) -> Check {
        Check { name: self, outcome: Outcome::NotChecked, detail: detail.into() }
    }

    pub(crate) fn update_needed(self, detail: impl Into<String>) -> Check {
        Check { name: self, outcome: Outcome::UpdateNeeded, detail: detail.into() }
    }

    /// A check that passes if `rule` holds, with the same detail either way.
    pub(crate) fn passes_if(self, rule: bool, detail: impl Into<String>) -> Check {
        if rule { self.passed(detail) } else { self.failed(detail) }
    }

    /// A check that passes if two hashes are equal.
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
            Outcome::NotChecked => "not checked",
            Outcome::UpdateNeeded => "update needed",
        };
        write!(f, "{} {outcome}: {}", self.name, self.detail)
    }
}

/// Checks a block's RandomX hash against its difficulty.
pub fn proof_of_work(hash: &Hash, difficulty: &Difficulty) -> Check {
    let met = difficulty.is_met_by(hash);
    let verb = if met { "meets" } else { "does not meet" };
    let detail = format!("the hash {verb} the difficulty {difficulty}");
    CheckName::ProofOfWork.passes_if(met, detail)
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
    fn the_hash_is_compared_with_the_difficulty() {
        let difficulty = "2".parse().expect("a difficulty");
        assert_eq!(proof_of_work(&[0x7f; 32], &difficulty).outcome, Outcome::Passed);
        let missed = proof_of_work(&[0x80; 32], &difficulty);
        assert_eq!(missed.outcome, Outcome::Failed);
        let sentence = "proof-of-work failed: the hash does not meet the difficulty 2";
        assert_eq!(missed.to_string(), sentence);
    }

    #[test]
    fn only_a_checked_proof_of_work_makes_a_block_valid() {
        let work = |outcome| Check { name: CheckName::ProofOfWork, outcome, detail: String::new() };
        let id = CheckName::Id.passed("");
        let status = |checks: &[Check]| Status::of(checks);
        assert_eq!(status(&[id.clone(), work(Outcome::Passed)]), Status::Valid);
        assert_eq!(status(&[id.clone(), work(Outcome::NotChecked)]), Status::Unproven);
        assert_eq!(status(&[id.clone(), work(Outcome::Failed)]), Status::Invalid);
        assert_eq!(status(std::slice::from_ref(&id)), Status::Unproven);
        let unknown = CheckName::Version.update_needed("");
        assert_eq!(status(&[unknown.clone(), work(Outcome::Passed)]), Status::UpdateNeeded);
        assert_eq!(status(&[unknown, work(Outcome::Failed)]), Status::UpdateNeeded);
        let broken = CheckName::Id.failed("");
        assert_eq!(status(&[broken, work(Outcome::Passed)]), Status::Invalid);
    }
}
