//! The graph of nodes that keys depend on.

use std::collections::TryReserveError;

use rand_core::{Rng, SeedableRng};

use super::error::EncodeError;
use crate::randen::Randen;

/// Nodes that a key depends on.
pub const PARENTS: usize = BASE_PARENTS + EXPANDER_PARENTS;

/// Near parents, by depth-robust sampling (Alwen, Blocki and Harsha's DRSample).
const BASE_PARENTS: usize = 5;

/// Parents anywhere, from an expander graph: a permutation of eight edge ends per node.
const EXPANDER_PARENTS: usize = 8;

/// The largest number of nodes: 4 GiB of data.
pub const MAX_NODES: usize = 1 << 27;

/// Memory per node: its data, and its parents in both directions with four bytes each.
pub const BYTES_PER_NODE: usize = 32 + 4 * (BASE_PARENTS + 2 * EXPANDER_PARENTS);

/// Memory per node while the graph is built: the parents, the edge ends, and two counters.
const BYTES_TO_BUILD: usize = 4 * (BASE_PARENTS + 3 * EXPANDER_PARENTS) + 2;

/// The parents of all nodes. A backward layer uses the mirror image of the near parents, and the same
/// expander's edges in the opposite direction.
pub struct Graph {
    base: Vec<[u32; BASE_PARENTS]>,
    forward: Vec<Far>,
    backward: Vec<Far>,
}

type Far = [u32; EXPANDER_PARENTS];

impl Graph {
    /// Returns the graph of `nodes` nodes for a seed.
    ///
    /// # Errors
    ///
    /// [`EncodeError::Nodes`] if `nodes` is not from 2 to [`MAX_NODES`], [`EncodeError::OutOfMemory`] if there is too
    /// little memory.
    pub fn new(nodes: usize, seed: u64) -> Result<Graph, EncodeError> {
        if !(2..=MAX_NODES).contains(&nodes) {
            return Err(EncodeError::Nodes { given: nodes, most: MAX_NODES });
        }
        let mut generator = Randen::seed_from_u64(seed);
        let lacking = |_| EncodeError::OutOfMemory { bytes: nodes * BYTES_TO_BUILD };
        let mut base = reserved(nodes).map_err(lacking)?;
        base.extend((0..nodes as u64).map(|node| near(node, &mut generator)));
        let (forward, backward) = expander(nodes, &mut generator).map_err(lacking)?;
        Ok(Graph { base, forward, backward })
    }

    /// The number of nodes.
    pub fn nodes(&self) -> usize {
        self.base.len()
    }

    /// Returns the node that a layer encodes after `step` others.
    #[inline]
    pub(super) fn nth(&self, step: usize, backward: bool) -> usize {
        if backward { self.nodes() - 1 - step } else { step }
    }

    /// Returns the parents of `node`, which a layer encodes before it. If the expander has fewer than eight
    /// such edges, the layer's first node stands in for the rest.
    #[inline]
    pub(super) fn parents(&self, node: usize, backward: bool) -> [u32; PARENTS] {
        let mut parents = [0; PARENTS];
        let (near, far) = parents.split_at_mut(BASE_PARENTS);
        if backward {
            let last = self.nodes() - 1;
            near.copy_from_slice(&self.base[last - node].map(|parent| last as u32 - parent));
            far.copy_from_slice(&self.backward[node]);
        } else {
            near.copy_from_slice(&self.base[node]);
            far.copy_from_slice(&self.forward[node]);
        }
        parents
    }
}

/// Returns parents at distances with a uniform logarithm; node 0 is the only parent of the first two nodes.
fn near(node: u64, generator: &mut Randen) -> [u32; BASE_PARENTS] {
    std::array::from_fn(|_| {
        if node < 2 {
            return 0;
        }
        let longest = node.ilog2();
        let bits = below(generator, u64::from(longest) + 1) as u32;
        let distance = (1 << bits) + below(generator, 1 << bits);
        (node - distance.min(node)) as u32
    })
}

/// Returns each node's expander edges to earlier nodes, and those to later nodes.
fn expander(nodes: usize, generator: &mut Randen) -> Result<(Vec<Far>, Vec<Far>), TryReserveError> {
    let mut ends: Vec<u32> = reserved(nodes * EXPANDER_PARENTS)?;
    ends.extend((0..nodes * EXPANDER_PARENTS).map(|end| end as u32));
    for last in (1..ends.len()).rev() {
        ends.swap(last, below(generator, last as u64 + 1) as usize);
    }
    let mut forward = filled(nodes, [0; EXPANDER_PARENTS])?;
    let mut backward = filled(nodes, [nodes as u32 - 1; EXPANDER_PARENTS])?;
    let mut before = filled(nodes, 0u8)?;
    let mut after = filled(nodes, 0u8)?;
    for (end, &other) in ends.iter().enumerate() {
        let [node, other] = [end, other as usize].map(|end| end / EXPANDER_PARENTS);
        if other < node {
            // A node has eight edge ends, so no index exceeds seven.
            forward[node][usize::from(before[node])] = other as u32;
            backward[other][usize::from(after[other])] = node as u32;
            before[node] += 1;
            after[other] += 1;
        }
    }
    Ok((forward, backward))
}

/// Returns `count` times the value.
fn filled<T: Clone>(count: usize, value: T) -> Result<Vec<T>, TryReserveError> {
    let mut all = reserved(count)?;
    all.resize(count, value);
    Ok(all)
}

/// Returns an empty vector with memory for `count` values.
fn reserved<T>(count: usize) -> Result<Vec<T>, TryReserveError> {
    let mut all = Vec::new();
    all.try_reserve_exact(count)?;
    Ok(all)
}

/// Returns a number below `limit`, which must not be 0; it is uniform up to a bias of 1 in 2^32.
fn below(generator: &mut Randen, limit: u64) -> u64 {
    ((u128::from(generator.next_u64()) * u128::from(limit)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parents_come_before_their_nodes() {
        let graph = Graph::new(5000, 4).expect("a graph of this size");
        for backward in [false, true] {
            let mut seen = vec![false; graph.nodes()];
            let mut far = 0;
            for step in 0..graph.nodes() {
                let node = graph.nth(step, backward);
                let parents = graph.parents(node, backward);
                let encoded = |&parent: &u32| seen[parent as usize] || step == 0;
                assert!(parents.iter().all(encoded), "node {node}: {parents:?}");
                let first = graph.nth(0, backward) as u32;
                far += parents[BASE_PARENTS..].iter().filter(|&&parent| parent != first).count();
                seen[node] = true;
            }
            // Half of a node's eight edges lead to either side.
            let mean = far as f64 / graph.nodes() as f64;
            assert!((3.8..4.2).contains(&mean), "{mean}");
        }
    }

    #[test]
    fn the_graph_depends_on_the_seed() {
        let parents = |seed| -> Vec<[u32; PARENTS]> {
            let graph = Graph::new(300, seed).expect("a graph of this size");
            (0..300).map(|node| graph.parents(node, true)).collect()
        };
        assert_eq!(parents(1), parents(1));
        assert_ne!(parents(1), parents(2));
    }
}
