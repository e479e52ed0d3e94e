//! Why data cannot be encoded.

use thiserror::Error;

/// Why data cannot be encoded.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum EncodeError {
    /// The number of nodes is not possible.
    #[error("nodes: expected 2 to {most}, got {given}")]
    Nodes {
        /// The number given.
        given: usize,
        /// The largest number.
        most: usize,
    },
    /// There is too little memory for the graph.
    #[error("no memory for the graph: {} MiB needed", .bytes.div_ceil(1 << 20))]
    OutOfMemory {
        /// The number of bytes needed.
        bytes: usize,
    },
    /// The data does not have the graph's number of nodes.
    #[error("data: expected {expected} nodes, as the graph has, got {given}")]
    Length {
        /// Nodes in the data.
        given: usize,
        /// Nodes in the graph.
        expected: usize,
    },
    /// A node is not an element of the field.
    #[error("data: expected nodes below the field's modulus, got a larger one at index {0}")]
    NotInField(usize),
}
