//! The root that binds a block to its transactions.

use crate::hash::{Hash, keccak256};

/// The root of Monero's tree over transaction hashes, the miner transaction's first.
///
/// One hash is its own root, and two make one node. Of more, those at the end are joined in pairs
/// until a power of two is left, which then halves from level to level.
///
/// Of no hashes at all, which no block has, it is 32 zero bytes.
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

/// The hashes with the last of them joined, so that the greatest power of two below their number
/// is left.
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
    fn of_one_is_itself_and_of_none_is_zero() {
        assert_eq!(tree_hash(&[[7; 32]]), [7; 32]);
        assert_eq!(tree_hash(&[]), [0; 32]);
    }

    #[test]
    fn small_trees_have_the_shape_of_the_chain() {
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
    fn every_leaf_and_its_place_count() {
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
