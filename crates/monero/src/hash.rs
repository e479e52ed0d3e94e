//! Monero's hash: Keccak with the padding from before SHA-3.

use std::fmt;

use tiny_keccak::{Hasher, Keccak};

/// A block id, a transaction hash, a seed hash or a RandomX hash, in byte order.
pub type Hash = [u8; 32];

/// Returns the Keccak-256 of the parts, concatenated.
pub fn keccak256(parts: &[&[u8]]) -> Hash {
    let mut keccak = Keccak::v256();
    for part in parts {
        keccak.update(part);
    }
    let mut hash = [0; 32];
    keccak.finalize(&mut hash);
    hash
}

/// A hash in error messages: 64 hexadecimal digits.
pub(crate) struct Hex<'a>(pub(crate) &'a Hash);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Returns the hash with these 64 hexadecimal digits. For constants: any other text fails to
/// compile.
pub(crate) const fn from_hex(hex: &str) -> Hash {
    let digits = hex.as_bytes();
    assert!(digits.len() == 64, "not 64 hexadecimal digits");
    let mut hash = [0; 32];
    let mut index = 0;
    while index < 32 {
        hash[index] = digit(digits[2 * index]) << 4 | digit(digits[2 * index + 1]);
        index += 1;
    }
    hash
}

const fn digit(byte: u8) -> u8 {
    match byte {
        b'0'..=b'9' => byte - b'0',
        b'a'..=b'f' => byte - b'a' + 10,
        _ => panic!("not a hexadecimal digit"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_input_hashes_as_keccak_not_sha3() {
        let empty = "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470";
        assert_eq!(Hex(&keccak256(&[])).to_string(), empty);
        assert_eq!(keccak256(&[]), from_hex(empty));
    }

    #[test]
    fn parts_are_hashed_as_one() {
        let whole: Vec<u8> = (0..=255).cycle().take(1000).collect();
        for cut in [0, 1, 135, 136, 137, 999, 1000] {
            let (front, back) = whole.split_at(cut);
            assert_eq!(keccak256(&[front, back]), keccak256(&[&whole]), "cut at {cut}");
        }
    }
}
