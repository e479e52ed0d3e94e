//! Commitments, which RandomX v2 chains compare with their target before they hash.

use crate::blake2b::hash256;
use crate::params::HASH_SIZE;

/// Returns the commitment to a hash: Blake2b-256 of `input` followed by the 32 bytes of its `hash`.
///
/// It takes microseconds, so a node can reject work whose commitment misses the target without
/// computing the RandomX hash. It does not depend on the key.
pub fn calculate_commitment(input: &[u8], hash: &[u8; HASH_SIZE]) -> [u8; HASH_SIZE] {
    hash256(&[input, hash])
}
