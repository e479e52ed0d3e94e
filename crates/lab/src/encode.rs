//! The encoding of Filecoin's proof of replication, which Supranational measured and improved.
//!
//! Data consists of nodes of 32 bytes. A node's key is the BLAKE2s hash of an identity and of 13 other
//! nodes that were encoded before it. Encoding adds the key to the node in the scalar field of BLS12-381.
//! Layers alternate between forward and backward, and each encodes the result of the one before.

mod copying;
mod error;
mod experiment;
mod field;
mod graph;
mod prefetch;

use crate::blake2::{Blake2s, Half};
use copying::Copying;
pub use error::EncodeError;
pub use experiment::Replication;
pub use graph::{BYTES_PER_NODE, Graph, MAX_NODES, PARENTS};

/// Bytes that are hashed for a key: the identity and the parents.
pub const HASHED: usize = 32 * (PARENTS + 1);

/// An element of the field, in little-endian order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, bytemuck::Zeroable, bytemuck::Pod)]
#[repr(C, align(32))]
pub struct Node(pub Half);

/// The improvements of the report, each on or off. All combinations give the same encoding.
#[derive(Clone, Copy, Debug)]
pub struct Method {
    /// The implementation of BLAKE2s.
    pub blake2s: Blake2s,
    /// Hash parents where they are, instead of copying them into blocks.
    pub no_copy: bool,
    /// Prefetch the next node's parents while computing a key.
    pub prefetch: bool,
    /// Add plain numbers, instead of converting them to Montgomery form and back.
    pub plain_add: bool,
}

/// Encodes `data` in place.
///
/// # Errors
///
/// [`EncodeError`] if `data` does not fit the graph, or a node is not in the field.
pub fn encode(
    graph: &Graph,
    identity: &Half,
    data: &mut [Node],
    layers: usize,
    method: Method,
) -> Result<(), EncodeError> {
    check(graph, data)?;
    for layer in 0..layers {
        pass(graph, identity, data, layer % 2 == 1, method);
    }
    Ok(())
}

/// Decodes `data` in place; the method may differ from the encoder's.
///
/// # Errors
///
/// [`EncodeError`] if `data` does not fit the graph, or a node is not in the field.
pub fn decode(
    graph: &Graph,
    identity: &Half,
    data: &mut [Node],
    layers: usize,
    method: Method,
) -> Result<(), EncodeError> {
    check(graph, data)?;
    for layer in (0..layers).rev() {
        let backward = layer % 2 == 1;
        // Last node first, because its parents are then as they were when it was encoded.
        for step in (0..data.len()).rev() {
            let node = graph.nth(step, backward);
            let key = key(identity, data, &graph.parents(node, backward), node, method);
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
fn pass(graph: &Graph, identity: &Half, data: &mut [Node], backward: bool, method: Method) {
    let mut node = graph.nth(0, backward);
    let mut parents = graph.parents(node, backward);
    for step in 0..data.len() {
        let next = graph.nth((step + 1) % data.len(), backward);
        let next_parents = graph.parents(next, backward);
        if method.prefetch {
            next_parents.iter().for_each(|&parent| prefetch::fetch(&data[parent as usize]));
        }
        let key = key(identity, data, &parents, node, method);
        let encoded = if method.plain_add { field::add } else { field::add_in_montgomery_form };
        data[node].0 = encoded(&data[node].0, &key);
        (node, parents) = (next, next_parents);
    }
}

/// Computes the key of a node, which is below 2^254 and so in the field.
#[inline]
fn key(
    identity: &Half,
    data: &[Node],
    parents: &[u32; PARENTS],
    node: usize,
    method: Method,
) -> Half {
    /// The first node's only parent is itself, which decoding does not know yet.
    const NOTHING: Half = [0; 32];
    let parent = |index: usize| match parents[index] as usize {
        parent if parent == node => &NOTHING,
        parent => &data[parent].0,
    };
    let mut key = if method.no_copy {
        let half = |index: usize| if index == 0 { identity } else { parent(index - 1) };
        let pairs = std::array::from_fn(|pair| [half(2 * pair), half(2 * pair + 1)]);
        method.blake2s.hash_halves::<{ HASHED / 64 }>(&pairs)
    } else {
        let mut hasher = Copying::new(method.blake2s);
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

    fn fastest() -> Method {
        Method {
            blake2s: Blake2s::new(Cpu::detect()),
            no_copy: true,
            prefetch: true,
            plain_add: true,
        }
    }

    #[test]
    #[ignore = "full tests: encodes and decodes 64 MiB"]
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
    fn all_methods_encode_the_same() {
        let original = data(3000);
        let graph = Graph::new(original.len(), 9).expect("a graph of this size");
        let encoded = |method: Method, identity: Half| {
            let mut data = original.clone();
            encode(&graph, &identity, &mut data, 3, method).expect("the data is in the field");
            data
        };
        let expected = encoded(fastest(), [1; 32]);
        for blake2s in Blake2s::all(Cpu::detect()) {
            for switches in 0..8 {
                let [no_copy, prefetch, plain_add] = [1, 2, 4].map(|bit| switches & bit != 0);
                let method = Method { blake2s, no_copy, prefetch, plain_add };
                assert!(encoded(method, [1; 32]) == expected, "{method:?}");
            }
        }
        assert!(encoded(fastest(), [2; 32]) != expected, "the identity matters");
        let mut decoded = expected;
        decode(&graph, &[1; 32], &mut decoded, 3, fastest()).expect("the data is in the field");
        assert!(decoded == original);
    }

    #[test]
    fn invalid_data_and_graphs_are_refused() {
        let graph = Graph::new(10, 1).expect("a graph of this size");
        let mut nodes = data(9);
        let refused = |data: &mut [Node]| encode(&graph, &[0; 32], data, 1, fastest());
        assert_eq!(refused(&mut nodes), Err(EncodeError::Length { given: 9, expected: 10 }));
        let mut nodes = data(10);
        nodes[4].0[31] = 0x74;
        assert_eq!(refused(&mut nodes), Err(EncodeError::NotInField(4)));
        assert_eq!(Graph::new(1, 1).err(), Some(EncodeError::Nodes { given: 1, most: MAX_NODES }));
        let many = EncodeError::Nodes { given: MAX_NODES + 1, most: MAX_NODES };
        assert_eq!(Graph::new(MAX_NODES + 1, 1).err(), Some(many));
    }
}
