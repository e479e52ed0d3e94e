//! Monero's binary format, read from untrusted bytes.

use std::{error, fmt};

use crate::hash::Hash;

/// The reason why bytes cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockError {
    /// The field, such as `transaction hashes`.
    pub field: &'static str,
    /// The offset of the field, in bytes from the start.
    pub offset: usize,
    /// The problem.
    pub problem: Problem,
}

/// A problem with a field.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// The bytes end before the field does.
    EndsEarly,
    /// A variable-length number that exceeds its field.
    TooLarge {
        /// The number of bits of the field.
        bits: u32,
    },
    /// A variable-length number with more bytes than needed. Monero refuses these too.
    NotShortest,
    /// A number that is not allowed here.
    Unexpected {
        /// The allowed values.
        expected: &'static str,
        /// The number.
        got: u64,
    },
    /// Bytes after the end.
    Surplus {
        /// The number of bytes.
        bytes: usize,
    },
}

impl fmt::Display for BlockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { field, offset, problem } = self;
        write!(f, "{field} at byte {offset}: {problem}")
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EndsEarly => f.write_str("the input ends before the end of this field"),
            Self::TooLarge { bits } => write!(f, "expected a number of at most {bits} bits"),
            Self::NotShortest => f.write_str("expected the shortest form of a number"),
            Self::Unexpected { expected, got } => write!(f, "expected {expected}, got {got}"),
            Self::Surplus { bytes } => write!(f, "{bytes} bytes too many"),
        }
    }
}

impl error::Error for BlockError {}

/// Returns the error of a number that is not allowed where it begins, at `offset`.
pub(crate) fn unexpected(
    field: &'static str,
    offset: usize,
    expected: &'static str,
    got: u64,
) -> BlockError {
    BlockError { field, offset, problem: Problem::Unexpected { expected, got } }
}

/// A position in bytes. Nothing it returns is larger than the bytes that are left.
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    offset: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, offset: 0 }
    }

    /// The offset of the next field.
    pub(crate) fn offset(&self) -> usize {
        self.offset
    }

    /// The bytes from `start` to the current position.
    pub(crate) fn since(&self, start: usize) -> &'a [u8] {
        &self.bytes[start..self.offset]
    }

    /// Reads a number of at most 64 bits in groups of seven, the lowest first.
    pub(crate) fn varint(&mut self, field: &'static str) -> Result<u64, BlockError> {
        self.varint_of(field, 64)
    }

    /// Reads a number of at most 8 bits, in one or two bytes.
    pub(crate) fn small_varint(&mut self, field: &'static str) -> Result<u8, BlockError> {
        Ok(self.varint_of(field, 8)? as u8)
    }

    /// Reads a number that must be `wanted`.
    pub(crate) fn exactly(
        &mut self,
        field: &'static str,
        wanted: u64,
        expected: &'static str,
    ) -> Result<(), BlockError> {
        let offset = self.offset;
        match self.varint(field)? {
            got if got == wanted => Ok(()),
            got => Err(unexpected(field, offset, expected, got)),
        }
    }

    /// Reads the number of entries that follow. Fails if the rest cannot hold that many of `size` bytes.
    pub(crate) fn count(&mut self, field: &'static str, size: usize) -> Result<usize, BlockError> {
        let offset = self.offset;
        let count = self.varint(field)?;
        let room = (self.bytes.len() - self.offset) / size;
        match usize::try_from(count) {
            Ok(count) if count <= room => Ok(count),
            _ => Err(BlockError { field, offset, problem: Problem::EndsEarly }),
        }
    }

    /// Reads `length` bytes.
    pub(crate) fn take(
        &mut self,
        field: &'static str,
        length: usize,
    ) -> Result<&'a [u8], BlockError> {
        let rest = &self.bytes[self.offset..];
        let Some(taken) = rest.get(..length) else {
            return Err(self.error(field, Problem::EndsEarly));
        };
        self.offset += length;
        Ok(taken)
    }

    /// Reads as many bytes as the array has.
    pub(crate) fn array<const N: usize>(
        &mut self,
        field: &'static str,
    ) -> Result<[u8; N], BlockError> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(field, N)?);
        Ok(array)
    }

    /// Reads a hash.
    pub(crate) fn hash(&mut self, field: &'static str) -> Result<Hash, BlockError> {
        self.array(field)
    }

    /// Reads one byte.
    pub(crate) fn byte(&mut self, field: &'static str) -> Result<u8, BlockError> {
        self.array(field).map(|[byte]| byte)
    }

    /// Fails if bytes are left.
    pub(crate) fn end(&self, field: &'static str) -> Result<(), BlockError> {
        match self.bytes.len() - self.offset {
            0 => Ok(()),
            bytes => Err(self.error(field, Problem::Surplus { bytes })),
        }
    }

    fn varint_of(&mut self, field: &'static str, bits: u32) -> Result<u64, BlockError> {
        let start = self.offset;
        let fail = |problem| Err(BlockError { field, offset: start, problem });
        let mut value = 0;
        for shift in (0..bits).step_by(7) {
            let Some(&byte) = self.bytes.get(self.offset) else { return fail(Problem::EndsEarly) };
            self.offset += 1;
            // The last group holds only the remaining bits, and no byte may follow it.
            if bits - shift <= 7 && u32::from(byte) >> (bits - shift) != 0 {
                return fail(Problem::TooLarge { bits });
            }
            if byte == 0 && shift != 0 {
                return fail(Problem::NotShortest);
            }
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        fail(Problem::TooLarge { bits })
    }

    fn error(&self, field: &'static str, problem: Problem) -> BlockError {
        BlockError { field, offset: self.offset, problem }
    }
}

/// Appends a number in groups of seven bits, the lowest first.
pub(crate) fn write_varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn varint(bytes: &[u8]) -> Result<u64, Problem> {
        Reader::new(bytes).varint("number").map_err(|error| error.problem)
    }

    fn small(bytes: &[u8]) -> Result<u8, Problem> {
        Reader::new(bytes).small_varint("number").map_err(|error| error.problem)
    }

    #[test]
    fn numbers_of_every_length_are_read_back() {
        for shift in 0..64 {
            for value in [1 << shift, (1 << shift) - 1, u64::MAX >> shift] {
                let mut bytes = Vec::new();
                write_varint(&mut bytes, value);
                assert_eq!(varint(&bytes), Ok(value));
                bytes.pop();
                assert_eq!(varint(&bytes), Err(Problem::EndsEarly), "{value} cut short");
            }
        }
    }

    /// All bytes that a number of a few bits could have, against the definition.
    ///
    /// Numbers of 64 and 8 bits differ from these only in the number of groups before the last, which
    /// has one bit in all of them.
    #[test]
    fn all_encodings_of_narrow_numbers_are_accepted_or_refused() {
        fn all(bits: u32, length: u32) {
            let mut written = Vec::new();
            for all in 0..1_u32 << (8 * length) {
                let bytes = &all.to_le_bytes()[..length as usize];
                let mut reader = Reader::new(bytes);
                let found = reader.varint_of("number", bits).map_err(|error| error.problem);
                let end = bytes.iter().position(|byte| byte & 0x80 == 0);
                let groups = end.map(|end| &bytes[..=end]);
                let value = groups.map(|groups| {
                    groups.iter().rev().fold(0_u64, |sum, byte| sum << 7 | u64::from(byte & 0x7f))
                });
                let shortest =
                    groups.is_none_or(|groups| groups.len() == 1 || !groups.ends_with(&[0]));
                match (found, value) {
                    (Ok(found), Some(value)) => {
                        assert_eq!(found, value, "{bytes:?}");
                        assert!(value >> bits == 0 && shortest, "{bytes:?}");
                        assert_eq!(Some(reader.offset()), groups.map(<[u8]>::len), "{bytes:?}");
                        written.clear();
                        write_varint(&mut written, value);
                        assert_eq!(Some(&written[..]), groups, "{bytes:?}");
                    }
                    (Err(Problem::NotShortest), _) => assert!(!shortest, "{bytes:?}"),
                    (Err(Problem::EndsEarly), value) => {
                        assert!(value.is_none() && 7 * length < bits, "{bytes:?}");
                    }
                    (Err(Problem::TooLarge { .. }), Some(value)) => {
                        assert!(value >> bits != 0 || !shortest, "{bytes:?}");
                    }
                    (Err(Problem::TooLarge { .. }), None) => {
                        assert!(7 * length >= bits, "{bytes:?}");
                    }
                    other => panic!("{bytes:?}: {other:?}"),
                }
            }
        }
        for bits in 1..=16 {
            all(bits, 1);
            all(bits, 2);
        }
        for bits in [8, 15, 16] {
            all(bits, 3);
        }
    }

    #[test]
    fn numbers_have_one_encoding_and_a_limit() {
        assert_eq!(varint(&[0]), Ok(0));
        assert_eq!(varint(&[0x80, 0]), Err(Problem::NotShortest));
        assert_eq!(varint(&[0xff, 0x80, 0]), Err(Problem::NotShortest));
        let mut bytes = [0xff; 10];
        bytes[9] = 1;
        assert_eq!(varint(&bytes), Ok(u64::MAX));
        for last in [2, 0x80, 0x81, 0xff] {
            bytes[9] = last;
            assert_eq!(varint(&bytes), Err(Problem::TooLarge { bits: 64 }), "{last}");
        }
        assert_eq!(varint(&[0xff; 1 << 20]), Err(Problem::TooLarge { bits: 64 }));
    }

    #[test]
    fn small_numbers_have_eight_bits() {
        assert_eq!(small(&[0x7f]), Ok(127));
        assert_eq!(small(&[0x80, 1]), Ok(128));
        assert_eq!(small(&[0xff, 1]), Ok(255));
        assert_eq!(small(&[0x80, 2]), Err(Problem::TooLarge { bits: 8 }));
        assert_eq!(small(&[0x80, 0x81, 0]), Err(Problem::TooLarge { bits: 8 }));
        assert_eq!(small(&[0x80, 0]), Err(Problem::NotShortest));
        assert_eq!(small(&[0x80]), Err(Problem::EndsEarly));
    }

    #[test]
    fn counts_are_limited_by_the_remaining_bytes() {
        let mut bytes = vec![2];
        bytes.extend([0; 64]);
        assert_eq!(Reader::new(&bytes).count("hashes", 32), Ok(2));
        bytes.pop();
        let error = Reader::new(&bytes).count("hashes", 32).expect_err("there is room for one");
        assert_eq!(
            error.to_string(),
            "hashes at byte 0: the input ends before the end of this field"
        );
        let mut huge = vec![];
        write_varint(&mut huge, u64::MAX);
        assert!(Reader::new(&huge).count("hashes", 1).is_err());
    }
}
