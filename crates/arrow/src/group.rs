//! The rows of a batch, by seed hash and version.

use std::collections::HashMap;

use randomx::Version;
use randomx_monero::Hash;

use crate::row::Proof;

/// The positions of the rows of one seed hash, by version.
pub(crate) struct Group {
    pub(crate) seed_hash: Hash,
    pub(crate) rows: [Vec<usize>; Version::ALL.len()],
}

/// Groups rows. The group of the key that is in memory comes first, the others in the order of their
/// first rows.
pub(crate) fn by_seed<'a>(
    proofs: impl Iterator<Item = (usize, &'a Proof<'a>)>,
    in_memory: Option<Hash>,
) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut positions: HashMap<Hash, usize> = HashMap::new();
    for (row, proof) in proofs {
        let seed_hash = proof.seed_hash;
        let position = *positions.entry(seed_hash).or_insert(groups.len());
        if position == groups.len() {
            groups.push(Group { seed_hash, rows: Default::default() });
        }
        if let Some(group) = groups.get_mut(position) {
            group.rows[proof.version as usize].push(row);
        }
    }
    groups.sort_by_key(|group| Some(group.seed_hash) != in_memory);
    groups
}
