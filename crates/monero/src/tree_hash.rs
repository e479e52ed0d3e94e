//! The root of a block's transactions.

use crate::hash::{Hash, keccak256};

/// Returns the root of Monero's tree over transaction hashes, the miner transaction's first.
///
/// A single hash is its own root. For more, pairs at the end are joined until a power of two is
/// left, which then halves from level to level.
///
/// The root of an empty list is 32 zero bytes; no block has one.
pub fn tree_hash(hashes: &[Hash]) -> Hash {
    let [first, rest @ ..] = hashes else { return [0; 32] };
    if rest.is_empty() {
        return *first;
    }
    let mut level = joined(hashes);
    while level.len() > 1 {
        level = level.chunks_exact(2).map(|pair| node(&pair[0], &pair[1])).collect();
    }
    level[0]
}

/// Joins pairs at the end, so that the greatest power of two below the number of hashes is left.
fn joined(hashes: &[Hash]) -> Vec<Hash> {
    let width = hashes.len().next_power_of_two() / 2;
    let (alone, pairs) = hashes.split_at(2 * width - hashes.len());
    let mut level = alone.to_vec();
    level.extend(pairs.chunks_exact(2).map(|pair| node(&pair[0], &pair[1])));
    level
}

fn node(left: &Hash, right: &Hash) -> Hash {
    keccak256(&[left, right])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaves(count: u8) -> Vec<Hash> {
        (0..count).map(|index| [index; 32]).collect()
    }

    #[test]
    fn one_hash_is_its_own_root_and_none_has_zero() {
        assert_eq!(tree_hash(&[[7; 32]]), [7; 32]);
        assert_eq!(tree_hash(&[]), [0; 32]);
    }

    #[test]
    fn small_trees_are_joined_from_the_end() {
        let l = leaves(6);
        assert_eq!(tree_hash(&l[..2]), node(&l[0], &l[1]));
        assert_eq!(tree_hash(&l[..3]), node(&l[0], &node(&l[1], &l[2])));
        assert_eq!(tree_hash(&l[..4]), node(&node(&l[0], &l[1]), &node(&l[2], &l[3])));
        assert_eq!(
            tree_hash(&l[..5]),
            node(&node(&l[0], &l[1]), &node(&l[2], &node(&l[3], &l[4])))
        );
        assert_eq!(
            tree_hash(&l),
            node(&node(&l[0], &l[1]), &node(&node(&l[2], &l[3]), &node(&l[4], &l[5])))
        );
    }

    #[test]
    fn every_leaf_and_its_position_change_the_root() {
        for count in 1..=40 {
            let original = leaves(count);
            let root = tree_hash(&original);
            for index in 0..usize::from(count) {
                let mut changed = original.clone();
                changed[index][31] ^= 1;
                assert_ne!(tree_hash(&changed), root, "{count} leaves, {index} changed");
            }
            let mut turned = original.clone();
            turned.rotate_left(1);
            assert_eq!(tree_hash(&turned) == root, count == 1, "{count} leaves, turned");
        }
    }
}
