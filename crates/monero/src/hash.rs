//! Monero's hash: Keccak with the padding it had before it became SHA-3.

use std::fmt;

use tiny_keccak::{Hasher, Keccak};

/// A block's id, a transaction's hash, a seed hash or a proof of work, in the order of its bytes.
pub type Hash = [u8; 32];

/// Keccak-256 of parts, one after the other.
pub(crate) fn keccak256(parts: &[&[u8]]) -> Hash {
    let mut keccak = Keccak::v256();
    for part in parts {
        keccak.update(part);
    }
    let mut hash = [0; 32];
    keccak.finalize(&mut hash);
    hash
}

/// A hash as sentences show it: 64 hexadecimal digits.
pub(crate) struct Hex<'a>(pub(crate) &'a Hash);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_keccak_and_not_sha3() {
        assert_eq!(
            Hex(&keccak256(&[])).to_string(),
            "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470"
        );
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
