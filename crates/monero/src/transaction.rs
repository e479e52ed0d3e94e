//! Transactions, as far as their hashes need it.

use crate::hash::{Hash, keccak256};
use crate::reader::{BlockError, Reader, unexpected};

/// The tags of an input that creates money, and of one that spends an output to a key.
pub(crate) const GENERATING_INPUT: u8 = 0xff;
const INPUT_FROM_KEY: u8 = 2;

/// The tags of an output to a key, and of one with a view tag.
const OUTPUT_TO_KEY: u8 = 2;
const OUTPUT_TO_TAGGED_KEY: u8 = 3;

/// The sizes of the smallest input, and of the smallest output: amount, tag and key.
const SMALLEST_INPUT: usize = 2;
pub(crate) const SMALLEST_OUTPUT: usize = 34;

/// The kinds of signatures of version 2: none, for miners, and all that the network has used.
const UNSIGNED: u8 = 0;
const SIMPLE: u8 = 2;
const FIRST_SHORT_AMOUNTS: u8 = 4;
const LATEST_SIGNATURES: u8 = 6;

/// A transaction's blob, divided into the parts that its hash commits to one by one.
///
/// Version 2 has three: the prefix with inputs and outputs, the base of the signatures with the fee,
/// and the signatures proper, which nodes may prune. Version 1 has a prefix and signatures, and is
/// hashed as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transaction<'a> {
    blob: &'a [u8],
    /// 1 or 2.
    pub version: u8,
    /// The number of outputs.
    pub outputs: usize,
    /// The fee, 0 for a miner's transaction. `None` if amounts exceed 64 bits, or the outputs exceed the inputs.
    pub fee: Option<u64>,
    /// Where the prefix ends.
    prefix: usize,
    /// Where the part ends that is never pruned.
    base: usize,
    /// Whether there are no signatures, as in a miner's transaction.
    unsigned: bool,
}

impl<'a> Transaction<'a> {
    /// Parses a blob, pruned or whole, in time proportional to its length. The signatures themselves
    /// are not looked at.
    ///
    /// # Errors
    ///
    /// If the blob does not begin with a transaction's prefix and base.
    pub fn parse(blob: &'a [u8]) -> Result<Self, BlockError> {
        let mut reader = Reader::new(blob);
        let version = read_version(&mut reader, "version of the transaction")?;
        reader.varint("unlock time")?;
        let Inputs { count: inputs, amount: spent, generating } = read_inputs(&mut reader)?;
        let (outputs, paid) = read_outputs(&mut reader)?;
        let extra = reader.count("extra", 1)?;
        reader.take("extra", extra)?;
        let prefix = reader.offset();
        let unsigned = version == 1 && inputs == 1 && generating == 1;
        let left = || spent.zip(paid).and_then(|(spent, paid)| spent.checked_sub(paid));
        let fee = if unsigned { Some(0) } else { left() };
        let mut parsed = Self { blob, version, outputs, fee, prefix, base: prefix, unsigned };
        if version == 2 {
            (parsed.unsigned, parsed.fee) = read_base(&mut reader, inputs, outputs)?;
            parsed.base = reader.offset();
            if parsed.unsigned {
                reader.end("end of the transaction")?;
            }
        }
        Ok(parsed)
    }

    /// Returns the hash of a whole transaction. The hash of a pruned blob is that of no transaction.
    pub fn hash(&self) -> Hash {
        match self.version {
            1 => keccak256(&[self.blob]),
            _ if self.unsigned => self.hash_of_parts(&[0; 32]),
            _ => self.hash_of_parts(&keccak256(&[&self.blob[self.base..]])),
        }
    }

    /// Returns the hash of a pruned transaction from the hash of what was pruned, or `None` for
    /// version 1, whose hash needs all bytes.
    pub fn pruned_hash(&self, prunable: &Hash) -> Option<Hash> {
        (self.version == 2).then(|| self.hash_of_parts(prunable))
    }

    /// Returns the part that is never pruned.
    pub fn pruned(&self) -> &'a [u8] {
        &self.blob[..self.base]
    }

    /// Returns the number of bytes.
    pub fn size(&self) -> usize {
        self.blob.len()
    }

    /// Whether the signatures are missing. A miner's transaction has none, and is never pruned.
    pub fn is_pruned(&self) -> bool {
        !self.unsigned && self.base == self.blob.len()
    }

    fn hash_of_parts(&self, prunable: &Hash) -> Hash {
        let prefix = keccak256(&[&self.blob[..self.prefix]]);
        let base = keccak256(&[&self.blob[self.prefix..self.base]]);
        keccak256(&[&prefix, &base, prunable])
    }
}

/// Reads a transaction's version, 1 or 2.
pub(crate) fn read_version(reader: &mut Reader<'_>, field: &'static str) -> Result<u8, BlockError> {
    let offset = reader.offset();
    match reader.varint(field)? {
        1 => Ok(1),
        2 => Ok(2),
        got => Err(unexpected(field, offset, "1 or 2", got)),
    }
}

/// A transaction's inputs.
struct Inputs {
    count: usize,
    /// The sum of their amounts, or `None` if it exceeds 64 bits.
    amount: Option<u64>,
    /// The number of those that create money.
    generating: usize,
}

fn read_inputs(reader: &mut Reader<'_>) -> Result<Inputs, BlockError> {
    const FIELD: &str = "input";
    let count = reader.count("inputs", SMALLEST_INPUT)?;
    let (mut amount, mut generating) = (Some(0_u64), 0);
    for _ in 0..count {
        let offset = reader.offset();
        match reader.byte(FIELD)? {
            GENERATING_INPUT => {
                generating += 1;
                reader.varint(FIELD)?;
            }
            INPUT_FROM_KEY => {
                let spent = reader.varint(FIELD)?;
                amount = amount.and_then(|sum| sum.checked_add(spent));
                for _ in 0..reader.count(FIELD, 1)? {
                    reader.varint(FIELD)?;
                }
                reader.hash(FIELD)?;
            }
            tag => return Err(unexpected(FIELD, offset, "2 or 255", tag.into())),
        }
    }
    Ok(Inputs { count, amount, generating })
}

/// Reads the outputs. Returns their number and the sum of their amounts.
fn read_outputs(reader: &mut Reader<'_>) -> Result<(usize, Option<u64>), BlockError> {
    let count = reader.count("outputs", SMALLEST_OUTPUT)?;
    let mut sum = Some(0_u64);
    for _ in 0..count {
        let (amount, _) = read_output(reader, "output")?;
        sum = sum.and_then(|sum| sum.checked_add(amount));
    }
    Ok((count, sum))
}

/// Reads an output: its amount, and whether it has a view tag.
pub(crate) fn read_output(
    reader: &mut Reader<'_>,
    field: &'static str,
) -> Result<(u64, bool), BlockError> {
    let amount = reader.varint(field)?;
    let offset = reader.offset();
    let tagged = match reader.byte(field)? {
        OUTPUT_TO_KEY => false,
        OUTPUT_TO_TAGGED_KEY => true,
        tag => {
            let expected = "an output to a key (2) or to a tagged key (3)";
            return Err(unexpected(field, offset, expected, tag.into()));
        }
    };
    reader.take(field, 32 + usize::from(tagged))?;
    Ok((amount, tagged))
}

/// Reads the base of version 2. Returns whether there are no signatures, and the fee.
fn read_base(
    reader: &mut Reader<'_>,
    inputs: usize,
    outputs: usize,
) -> Result<(bool, Option<u64>), BlockError> {
    let (field, offset) = ("kind of the signatures", reader.offset());
    let kind = reader.byte(field)?;
    if kind == UNSIGNED {
        return Ok((true, Some(0)));
    }
    if kind > LATEST_SIGNATURES {
        return Err(unexpected(field, offset, "0 to 6", kind.into()));
    }
    let fee = reader.varint("fee")?;
    if kind == SIMPLE {
        take(reader, "pseudo outputs", inputs, 32)?;
    }
    let amount = if kind >= FIRST_SHORT_AMOUNTS { 8 } else { 64 };
    take(reader, "encrypted amounts", outputs, amount)?;
    take(reader, "commitments", outputs, 32)?;
    Ok((false, Some(fee)))
}

/// Skips entries of one size.
fn take(
    reader: &mut Reader<'_>,
    field: &'static str,
    count: usize,
    size: usize,
) -> Result<(), BlockError> {
    // Each of the counted entries had a byte of the blob, so the product does not overflow.
    reader.take(field, count * size).map(|_| ())
}
