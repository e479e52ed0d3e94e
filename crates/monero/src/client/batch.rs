//! A batch of blocks whose proofs of work are checked together.

use std::collections::HashMap;

use super::event::JobId;
use super::proofs::Proof;
use crate::hash::{Hash, keccak256};

/// A part of a chain that is to be accepted, which its last block stands for.
#[derive(Clone, Debug)]
pub(super) struct Batch {
    /// The newest block. It is hashed first: a forger can fake the others more cheaply.
    pub(super) tip: Hash,
    /// All blocks that are not accepted yet, the oldest first.
    pub(super) path: Vec<Hash>,
    /// The blocks to hash after the newest one.
    pub(super) rest: Vec<Hash>,
    /// The hashes in work.
    pub(super) jobs: HashMap<JobId, Proof>,
}

impl Batch {
    /// Plans the check of the blocks of `path`. All are hashed, or else the `newest`, and one in
    /// `sample` of the others, chosen by a number that nobody can predict without `secret`.
    pub(super) fn new(path: Vec<Hash>, sample: u64, newest: usize, secret: &Hash) -> Option<Self> {
        let (tip, before) = path.split_last()?;
        let old = path.len().saturating_sub(newest);
        let chosen = |(index, id): &(usize, &Hash)| {
            let [a, b, c, d, e, f, g, h, ..] = keccak256(&[secret, tip, *id]);
            let number = u64::from_le_bytes([a, b, c, d, e, f, g, h]);
            *index >= old || number.is_multiple_of(sample.max(1))
        };
        let rest = before.iter().enumerate().filter(chosen).map(|(_, id)| *id).collect();
        Some(Self { tip: *tip, rest, jobs: HashMap::new(), path })
    }

    /// Whether hashes are in work.
    pub(super) fn is_open(&self) -> bool {
        !self.jobs.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(count: u8) -> Vec<Hash> {
        (0..count).map(|n| [n; 32]).collect()
    }

    #[test]
    fn the_newest_blocks_are_always_hashed() {
        let batch = |sample, newest| Batch::new(path(5), sample, newest, &[0; 32]).expect("blocks");
        assert!(Batch::new(Vec::new(), 1, 1, &[0; 32]).is_none());
        for sample in [1, 2, u64::MAX] {
            let batch = batch(sample, 0);
            assert_eq!((batch.tip, batch.path.len()), ([4; 32], 5));
        }
        assert_eq!(batch(1, 1).rest, path(4));
        assert_eq!(batch(u64::MAX, 1).rest, path(0));
        assert_eq!(batch(u64::MAX, 3).rest, path(4)[2..]);
        assert_eq!(batch(u64::MAX, 9).rest, path(4));
    }

    #[test]
    fn samples_have_their_share_and_depend_on_the_secret() {
        let chosen = |secret: u8, sample| {
            Batch::new(path(255), sample, 1, &[secret; 32]).expect("blocks").rest
        };
        let total: usize = (0..100).map(|secret| chosen(secret, 10).len()).sum();
        assert!((2300..2800).contains(&total), "{total} of 25,400");
        assert_ne!(chosen(1, 2), chosen(2, 2));
    }
}
