//! The transaction with which a block pays its miner.

use crate::checks::{Check, CheckName};
use crate::hash::{Hash, keccak256};
use crate::reader::{BlockError, Reader, unexpected};
use crate::transaction::{GENERATING_INPUT, SMALLEST_OUTPUT, read_output, read_version};

/// Blocks after which a miner transaction's outputs can be spent.
pub const UNLOCK_WINDOW: u64 = 60;

/// The major version that allows outputs with and without view tags, but not both in a transaction.
/// Earlier ones forbid view tags, later ones require them.
const VIEW_TAGS_VERSION: u8 = 15;

/// The first major version in which the outputs must add up to the whole reward, so that there is
/// at least one.
const EXACT_REWARD_VERSION: u8 = 13;

/// A miner transaction, as far as the rules of blocks need it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MinerTransaction {
    /// 1 or 2. Blocks need 2 from major version 12 on.
    pub version: u8,
    /// The height from which its outputs can be spent.
    pub unlock_height: u64,
    /// The height of its block.
    pub height: u64,
    /// The number of outputs.
    pub outputs: usize,
    /// The number of outputs with a view tag.
    pub tagged_outputs: usize,
    /// The sum of the outputs, or `None` if it exceeds 64 bits.
    pub sum: Option<u64>,
    /// Its hash. For version 1 the hash of all bytes, for version 2 of three hashes; the last of
    /// these is zero, since there is nothing to prune.
    pub hash: Hash,
}

impl MinerTransaction {
    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, BlockError> {
        let start = reader.offset();
        let version = read_version(reader, "version of the miner transaction")?;
        let unlock_height = reader.varint("unlock time of the miner transaction")?;
        reader.exactly("inputs of the miner transaction", 1, "one input")?;
        let height = read_input(reader)?;
        let outputs = reader.count("outputs of the miner transaction", SMALLEST_OUTPUT)?;
        let (mut tagged_outputs, mut sum) = (0, Some(0_u64));
        for _ in 0..outputs {
            let (amount, tagged) = read_output(reader, "output of the miner transaction")?;
            tagged_outputs += usize::from(tagged);
            sum = sum.and_then(|sum| sum.checked_add(amount));
        }
        let extra = reader.count("extra of the miner transaction", 1)?;
        reader.take("extra of the miner transaction", extra)?;
        let prefix = keccak256(&[reader.since(start)]);
        let hash = match version {
            1 => prefix,
            _ => {
                reader.exactly("signatures of the miner transaction", 0, "none (0)")?;
                keccak256(&[&prefix, &keccak256(&[&[0]]), &[0; 32]])
            }
        };
        Ok(Self { version, unlock_height, height, outputs, tagged_outputs, sum, hash })
    }

    /// Checks the rules for a block of a major version, from 12 on, at a height.
    pub(crate) fn check(&self, major_version: u8, height: u64) -> Check {
        let name = CheckName::MinerTransaction;
        let unlock = height.saturating_add(UNLOCK_WINDOW);
        let problem = if self.version != 2 {
            format!("version: expected 2, got {}", self.version)
        } else if self.unlock_height != unlock {
            format!("unlock time: expected {unlock}, got {}", self.unlock_height)
        } else if self.outputs == 0 && major_version >= EXACT_REWARD_VERSION {
            "outputs: expected at least one, got none".to_owned()
        } else if self.sum.is_none() {
            "sum of the outputs: expected at most 64 bits, got more".to_owned()
        } else if let Some(problem) = self.wrong_outputs(major_version) {
            format!("outputs: {problem}")
        } else {
            return name
                .passed(format!("version 2, unlock time {unlock}, {} outputs", self.outputs));
        };
        name.failed(problem)
    }

    fn wrong_outputs(&self, major_version: u8) -> Option<&'static str> {
        let (all, none) = (self.tagged_outputs == self.outputs, self.tagged_outputs == 0);
        if major_version < VIEW_TAGS_VERSION {
            (!none).then_some("expected none with a view tag before major version 15")
        } else if major_version > VIEW_TAGS_VERSION {
            (!all).then_some("expected a view tag for each from major version 16 on")
        } else {
            (!all && !none).then_some("expected a view tag for all or for none")
        }
    }
}

/// Reads the input, which contains the height.
fn read_input(reader: &mut Reader<'_>) -> Result<u64, BlockError> {
    let (field, offset) = ("input of the miner transaction", reader.offset());
    match reader.byte(field)? {
        GENERATING_INPUT => reader.varint("height of the miner transaction"),
        got => Err(unexpected(field, offset, "one that creates money (255)", got.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::Outcome;

    fn transaction() -> MinerTransaction {
        MinerTransaction {
            version: 2,
            unlock_height: 160,
            height: 100,
            outputs: 2,
            tagged_outputs: 2,
            sum: Some(600_000_000_000),
            hash: [0; 32],
        }
    }

    #[track_caller]
    fn refused(transaction: &MinerTransaction, major_version: u8, sentence: &str) {
        let check = transaction.check(major_version, 100);
        assert_eq!((check.outcome, check.detail.as_str()), (Outcome::Failed, sentence));
    }

    #[test]
    fn each_rule_has_its_own_sentence() {
        let good = transaction();
        assert_eq!(good.check(16, 100).outcome, Outcome::Passed);
        refused(&MinerTransaction { version: 1, ..good.clone() }, 16, "version: expected 2, got 1");
        let early = MinerTransaction { unlock_height: 159, ..good.clone() };
        refused(&early, 16, "unlock time: expected 160, got 159");
        let none = MinerTransaction { outputs: 0, tagged_outputs: 0, ..good.clone() };
        refused(&none, 16, "outputs: expected at least one, got none");
        refused(&none, 13, "outputs: expected at least one, got none");
        assert_eq!(none.check(12, 100).outcome, Outcome::Passed);
        let overflow = MinerTransaction { sum: None, ..good };
        refused(&overflow, 16, "sum of the outputs: expected at most 64 bits, got more");
    }

    #[test]
    fn view_tags_follow_the_major_version() {
        let with = |tagged_outputs| MinerTransaction { tagged_outputs, ..transaction() };
        let before = "outputs: expected none with a view tag before major version 15";
        let after = "outputs: expected a view tag for each from major version 16 on";
        for version in [12, 13, 14] {
            assert_eq!(with(0).check(version, 100).outcome, Outcome::Passed);
            refused(&with(1), version, before);
            refused(&with(2), version, before);
        }
        assert_eq!(with(0).check(15, 100).outcome, Outcome::Passed);
        assert_eq!(with(2).check(15, 100).outcome, Outcome::Passed);
        refused(&with(1), 15, "outputs: expected a view tag for all or for none");
        refused(&with(0), 16, after);
        refused(&with(1), 16, after);
    }
}
