//! Byte strings in hexadecimal from outside: keys, inputs, seed hashes and blobs.

use hex::FromHexError;
use thiserror::Error;

/// The most bytes of a key, an input or a blob.
pub const MAX_BYTES: usize = 1 << 20;

/// The reason why a text is not the expected bytes. Messages follow the argument's name.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum BytesError {
    /// The last byte has only one digit.
    #[error("odd number of hex digits ({0})")]
    OddDigits(usize),
    /// A character is no digit.
    #[error("{character:?} at position {position} is not a hex digit")]
    NotHex {
        /// The first such character.
        character: char,
        /// Its position, counted from 1.
        position: usize,
    },
    /// There are more than [`MAX_BYTES`].
    #[error("expected at most {MAX_BYTES} bytes, got {0}")]
    TooLong(usize),
    /// The number of bytes is wrong.
    #[error("expected {expected} bytes ({} hex digits), got {got} bytes", 2 * .expected)]
    Length {
        /// The expected number.
        expected: usize,
        /// The given number.
        got: usize,
    },
}

/// Returns the bytes that hexadecimal digits of either case stand for.
///
/// # Errors
///
/// If the text has other characters, an odd number of digits, or more than [`MAX_BYTES`] bytes.
pub fn from_hex(text: &str) -> Result<Vec<u8>, BytesError> {
    let bytes = hex::decode(text).map_err(|error| match error {
        FromHexError::InvalidHexCharacter { index, .. } => BytesError::NotHex {
            // Everything before the first wrong character is ASCII, so it begins at `index`.
            character: text[index..].chars().next().unwrap_or_default(),
            position: index + 1,
        },
        FromHexError::OddLength | FromHexError::InvalidStringLength => {
            BytesError::OddDigits(text.len())
        }
    })?;
    within_limit(bytes)
}

/// Returns the 32 bytes that hexadecimal digits stand for.
///
/// # Errors
///
/// If [`from_hex`] fails, or there are more or fewer bytes.
pub fn hash_from_hex(text: &str) -> Result<[u8; 32], BytesError> {
    let bytes = from_hex(text)?;
    let got = bytes.len();
    bytes.try_into().map_err(|_| BytesError::Length { expected: 32, got })
}

/// Returns the UTF-8 bytes of a text.
///
/// # Errors
///
/// If there are more than [`MAX_BYTES`].
pub fn from_text(text: &str) -> Result<Vec<u8>, BytesError> {
    within_limit(text.as_bytes().to_vec())
}

fn within_limit(bytes: Vec<u8>) -> Result<Vec<u8>, BytesError> {
    if bytes.len() > MAX_BYTES {
        return Err(BytesError::TooLong(bytes.len()));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_of_either_case_and_none_are_bytes() {
        assert_eq!(from_hex("00aBFf"), Ok(vec![0, 0xab, 0xff]));
        assert_eq!(from_hex(""), Ok(vec![]));
    }

    #[test]
    fn errors_name_the_position() {
        let not_hex = |character, position| Err(BytesError::NotHex { character, position });
        assert_eq!(from_hex("abc"), Err(BytesError::OddDigits(3)));
        assert_eq!(from_hex("abcg"), not_hex('g', 4));
        assert_eq!(from_hex("0x00"), not_hex('x', 2));
        assert_eq!(from_hex("00 0"), not_hex(' ', 3));
        assert_eq!(from_hex("abé"), not_hex('é', 3));
        assert_eq!(from_hex("鍵0"), not_hex('鍵', 1));
    }

    #[test]
    fn the_limit_is_inclusive() {
        let most = "00".repeat(MAX_BYTES);
        assert_eq!(from_hex(&most).map(|bytes| bytes.len()), Ok(MAX_BYTES));
        assert_eq!(from_hex(&(most + "00")), Err(BytesError::TooLong(MAX_BYTES + 1)));
        let text = "x".repeat(MAX_BYTES + 1);
        assert_eq!(from_text(&text[1..]).map(|bytes| bytes.len()), Ok(MAX_BYTES));
        assert_eq!(from_text(&text), Err(BytesError::TooLong(MAX_BYTES + 1)));
    }

    #[test]
    fn a_hash_has_32_bytes() {
        assert_eq!(hash_from_hex(&"07".repeat(32)), Ok([7; 32]));
        for got in [0, 31, 33, 64] {
            let error = BytesError::Length { expected: 32, got };
            assert_eq!(hash_from_hex(&"07".repeat(got)), Err(error));
        }
        assert_eq!(
            BytesError::Length { expected: 32, got: 31 }.to_string(),
            "expected 32 bytes (64 hex digits), got 31 bytes"
        );
    }
}
