//! The transaction with which a block pays its miner.

use crate::hash::{Hash, keccak256};
use crate::reader::{BlockError, Problem, Reader};

/// The tag of an input that makes new money.
const GENERATING_INPUT: u64 = 0xff;

/// The tag of an output to a key, and of one with a byte that a wallet finds it by.
const OUTPUT_TO_KEY: u8 = 2;
const OUTPUT_TO_TAGGED_KEY: u8 = 3;

/// The fewest bytes of an output: amount, tag and key.
const SMALLEST_OUTPUT: usize = 34;

/// A miner transaction: what the rules ask of it, not whom it pays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MinerTransaction {
    /// 1, or 2 from major version 12 of blocks on.
    pub version: u8,
    /// The height from which its outputs can be spent.
    pub unlock_height: u64,
    /// The height of its block.
    pub height: u64,
    /// How many outputs it has.
    pub outputs: usize,
    /// Its hash: of version 1 that of all bytes, of version 2 that of three hashes, of which the
    /// last is zero, since there is nothing that could be pruned.
    pub hash: Hash,
}

impl MinerTransaction {
    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, BlockError> {
        let start = reader.offset();
        let version = read_version(reader)?;
        let unlock_height = reader.varint("unlock time of the miner transaction")?;
        reader.exactly("inputs of the miner transaction", 1, "one input")?;
        let height = read_input(reader)?;
        let outputs = reader.count("outputs of the miner transaction", SMALLEST_OUTPUT)?;
        for _ in 0..outputs {
            skip_output(reader)?;
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
        Ok(Self { version, unlock_height, height, outputs, hash })
    }
}

fn read_version(reader: &mut Reader<'_>) -> Result<u8, BlockError> {
    let (field, offset) = ("version of the miner transaction", reader.offset());
    match reader.varint(field)? {
        1 => Ok(1),
        2 => Ok(2),
        got => {
            let problem = Problem::Unexpected { expected: "1 or 2", got };
            Err(BlockError { field, offset, problem })
        }
    }
}

/// Reads the input, which holds the height.
fn read_input(reader: &mut Reader<'_>) -> Result<u64, BlockError> {
    let (field, offset) = ("input of the miner transaction", reader.offset());
    match u64::from(reader.byte(field)?) {
        GENERATING_INPUT => reader.varint("height of the miner transaction"),
        got => {
            let problem = Problem::Unexpected { expected: "one that makes money (255)", got };
            Err(BlockError { field, offset, problem })
        }
    }
}

fn skip_output(reader: &mut Reader<'_>) -> Result<(), BlockError> {
    const FIELD: &str = "output of the miner transaction";
    reader.varint(FIELD)?;
    let offset = reader.offset();
    let length = match reader.byte(FIELD)? {
        OUTPUT_TO_KEY => 32,
        OUTPUT_TO_TAGGED_KEY => 33,
        tag => {
            let problem = Problem::Unexpected {
                expected: "an output to a key (2) or to a tagged key (3)",
                got: tag.into(),
            };
            return Err(BlockError { field: FIELD, offset, problem });
        }
    };
    reader.take(FIELD, length).map(|_| ())
}
