//! The steps of a history.

use crate::sources::Mode;
use crate::world::Fault;

/// A step of a history.
#[derive(Clone, Debug)]
pub enum Op {
    /// A source's chain grows.
    Grow { source: usize, blocks: usize, seconds: u64 },
    /// A source's chain gets a block with a fault, and more after it.
    Lie { source: usize, fault: Fault, blocks: usize },
    /// The end of a source's chain is replaced.
    Fork { source: usize, depth: usize, blocks: usize, seconds: u64 },
    /// The end of a source's chain is removed.
    Pop { source: usize, depth: usize },
    /// A source takes the chain of another.
    Join { source: usize, other: usize },
    /// A source changes its manners.
    Mode { source: usize, mode: Mode },
    /// Some answers and hashes arrive, in any order.
    Deliver { picks: Vec<usize> },
    /// A hash cannot be computed.
    HashFails { pick: usize },
    /// A hash is computed wrongly, and each time otherwise.
    HashErrs { pick: usize },
    /// Time passes.
    Tick { seconds: u64 },
    /// The computer sleeps.
    Sleep { seconds: u64 },
    /// The process ends after some of the actions that one more answer causes, and starts again.
    Crash { pick: usize, executed: usize },
}
