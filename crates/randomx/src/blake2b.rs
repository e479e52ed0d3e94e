//! Hash256 and Hash512 of specification 1.1: Blake2b, from the RustCrypto crate.

use blake2::digest::consts::{U32, U64};
use blake2::{Blake2b, Digest};

/// Hash256 of the concatenation of `parts`.
pub fn hash256(parts: &[&[u8]]) -> [u8; 32] {
    let mut hasher = Blake2b::<U32>::new();
    parts.iter().for_each(|part| hasher.update(part));
    hasher.finalize().into()
}

/// Hash512 of the concatenation of `parts`.
pub fn hash512(parts: &[&[u8]]) -> [u8; 64] {
    let mut hasher = Blake2b::<U64>::new();
    parts.iter().for_each(|part| hasher.update(part));
    hasher.finalize().into()
}
