//! The encoding of Filecoin's proof of replication, as Supranational measured and improved it: each
//! node of 32 bytes has a key, the BLAKE2s of an identity and of 13 other nodes that were encoded
//! before it, which is added to it in the scalar field of BLS12-381. Layers go forwards and backwards
//! in turn, each over what the one before made.

mod copying;
mod experiment;
mod field;
mod graph;
mod prefetch;

use thiserror::Error;

use crate::blake2::{Blake2s, Half};
use copying::Copying;
pub use experiment::Replication;
pub use graph::{BYTES_PER_NODE, Graph, MAX_NODES};

/// Nodes that a key depends on.
pub const PARENTS: usize = graph::BASE_PARENTS + graph::EXPANDER_PARENTS;

/// Bytes that are hashed for a key: those of the parents, after the identity.
pub const HASHED: usize = 32 * (PARENTS + 1);

/// An element of the field, in little-endian order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, bytemuck::Zeroable, bytemuck::Pod)]
#[repr(C, align(32))]
pub struct Node(pub Half);

/// How keys are computed and added: the improvements of the report, one by one. All give the same.
#[derive(Clone, Copy, Debug)]
pub struct Steps {
    /// What compresses.
    pub blake2s: Blake2s,
    /// Hash parents where they lie, instead of copying them into blocks.
    pub no_copy: bool,
    /// Fetch the next node's parents while a key is computed.
    pub prefetch: bool,
    /// Add numbers, instead of converting them to Montgomery's form and back.
    pub plain_add: bool,
}

/// Why data cannot be encoded.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum EncodeError {
    /// A graph has a number of nodes that it cannot have.
    #[error("nodes: {0} are not between 2 and {MAX_NODES}")]
    Nodes(usize),
    /// The data is not that of the graph.
    #[error("data: {given} nodes, but the graph has {expected}")]
    Length {
        /// Nodes of the data.
        given: usize,
        /// Nodes of the graph.
        expected: usize,
    },
    /// A node is not an element of the field.
    #[error("data: node {0} is not below the field's modulus")]
    NotInField(usize),
}

/// Encodes `data` in place.
pub fn encode(
    graph: &Graph,
    identity: &Half,
    data: &mut [Node],
    layers: usize,
    steps: Steps,
) -> Result<(), EncodeError> {
    check(graph, data)?;
    for layer in 0..layers {
        pass(graph, identity, data, layer % 2 == 1, steps);
    }
    Ok(())
}

/// Restores what was encoded, with the same steps or others.
pub fn decode(
    graph: &Graph,
    identity: &Half,
    data: &mut [Node],
    layers: usize,
    steps: Steps,
) -> Result<(), EncodeError> {
    check(graph, data)?;
    for layer in (0..layers).rev() {
        let backward = layer % 2 == 1;
        // The last one first: its parents are as they were when it was encoded.
        for step in (0..data.len()).rev() {
            let node = graph.nth(step, backward);
            let key = key(identity, data, &graph.parents(node, backward), node, steps);
            data[node].0 = field::subtract(&data[node].0, &key);
        }
    }
    Ok(())
}

fn check(graph: &Graph, data: &[Node]) -> Result<(), EncodeError> {
    if data.len() != graph.nodes() {
        return Err(EncodeError::Length { given: data.len(), expected: graph.nodes() });
    }
    let outside = data.iter().position(|node| !field::contains(&node.0));
    outside.map_or(Ok(()), |node| Err(EncodeError::NotInField(node)))
}

/// Encodes one layer.
fn pass(graph: &Graph, identity: &Half, data: &mut [Node], backward: bool, steps: Steps) {
    let mut node = graph.nth(0, backward);
    let mut parents = graph.parents(node, backward);
    for step in 0..data.len() {
        let next = graph.nth((step + 1) % data.len(), backward);
        let next_parents = graph.parents(next, backward);
        if steps.prefetch {
            next_parents.iter().for_each(|&parent| prefetch::fetch(&data[parent as usize]));
        }
        let key = key(identity, data, &parents, node, steps);
        let encoded = if steps.plain_add { field::add } else { field::add_in_montgomery_form };
        data[node].0 = encoded(&data[node].0, &key);
        (node, parents) = (next, next_parents);
    }
}

/// The key of a node, below 2^254 and so in the field.
#[inline]
fn key(
    identity: &Half,
    data: &[Node],
    parents: &[u32; PARENTS],
    node: usize,
    steps: Steps,
) -> Half {
    /// The first node has no parents but itself, which decoding does not know.
    const NOTHING: Half = [0; 32];
    let parent = |index: usize| match parents[index] as usize {
        parent if parent == node => &NOTHING,
        parent => &data[parent].0,
    };
    let mut key = if steps.no_copy {
        let half = |index: usize| if index == 0 { identity } else { parent(index - 1) };
        let pairs = std::array::from_fn(|pair| [half(2 * pair), half(2 * pair + 1)]);
        steps.blake2s.hash_halves::<{ HASHED / 64 }>(&pairs)
    } else {
        let mut hasher = Copying::new(steps.blake2s);
        hasher.update(identity);
        (0..PARENTS).for_each(|index| hasher.update(parent(index)));
        hasher.finish()
    };
    key[31] &= 0x3f;
    key
}

#[cfg(test)]
mod tests {
    use rand_core::Rng;
    use randomx::cpu::Cpu;

    use super::*;
    use crate::randen::Randen;

    fn data(nodes: usize) -> Vec<Node> {
        let mut generator = Randen::default();
        let mut data = vec![Node::default(); nodes];
        generator.fill_bytes(bytemuck::cast_slice_mut(&mut data));
        data.iter_mut().for_each(|node| node.0[31] &= 0x3f);
        data
    }

    fn fastest() -> Steps {
        Steps {
            blake2s: Blake2s::new(Cpu::detect()),
            no_copy: true,
            prefetch: true,
            plain_add: true,
        }
    }

    #[test]
    fn decoding_restores_64_mebibytes() {
        let original = data(1 << 21);
        let graph = Graph::new(original.len(), 3).expect("a graph of this size");
        let (identity, mut encoded) = ([7; 32], original.clone());
        encode(&graph, &identity, &mut encoded, 2, fastest()).expect("the data is in the field");
        let same = original.iter().zip(&encoded).filter(|(before, after)| before == after);
        assert_eq!(same.count(), 0);
        decode(&graph, &identity, &mut encoded, 2, fastest()).expect("the data is in the field");
        assert!(original == encoded);
    }

    #[test]
    fn all_steps_encode_the_same() {
        let original = data(3000);
        let graph = Graph::new(original.len(), 9).expect("a graph of this size");
        let encoded = |steps: Steps, identity: Half| {
            let mut data = original.clone();
            encode(&graph, &identity, &mut data, 3, steps).expect("the data is in the field");
            data
        };
        let expected = encoded(fastest(), [1; 32]);
        for blake2s in Blake2s::all(Cpu::detect()) {
            for switches in 0..8 {
                let [no_copy, prefetch, plain_add] = [1, 2, 4].map(|bit| switches & bit != 0);
                let steps = Steps { blake2s, no_copy, prefetch, plain_add };
                assert!(encoded(steps, [1; 32]) == expected, "{steps:?}");
            }
        }
        assert!(encoded(fastest(), [2; 32]) != expected, "the identity counts");
    }

    #[test]
    fn what_cannot_be_encoded_is_refused() {
        let graph = Graph::new(10, 1).expect("a graph of this size");
        let mut nodes = data(9);
        let refused = |data: &mut [Node]| encode(&graph, &[0; 32], data, 1, fastest());
        assert_eq!(refused(&mut nodes), Err(EncodeError::Length { given: 9, expected: 10 }));
        let mut nodes = data(10);
        nodes[4].0[31] = 0x74;
        assert_eq!(refused(&mut nodes), Err(EncodeError::NotInField(4)));
        assert_eq!(Graph::new(1, 1).err(), Some(EncodeError::Nodes(1)));
        assert_eq!(Graph::new(MAX_NODES + 1, 1).err(), Some(EncodeError::Nodes(MAX_NODES + 1)));
    }
}
