//! Events of the generation of a program.

use super::{Instruction, Kind};

/// An execution port of the reference CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Port {
    /// Adds, rotates, and computes a part of 128-bit products.
    P5,
    /// Adds, with and without a shift, and rotates.
    P0,
    /// Adds, with and without a shift, and multiplies.
    P1,
}

impl Port {
    /// The ports in the order in which a micro-op tries them.
    pub const ALL: [Port; 3] = [Port::P5, Port::P0, Port::P1];
}

/// A macro-op in the schedule of the reference CPU (specification 6.3.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Issued {
    /// The operation that it belongs to.
    pub kind: Kind,
    /// Its index among the operation's macro-ops.
    pub part: usize,
    /// The cycle in which it starts.
    pub cycle: usize,
    /// Cycles until its result is ready.
    pub latency: usize,
    /// The ports that its micro-ops use, a bit each in the order of [`Port::ALL`]. A move uses none.
    pub ports: u8,
}

impl Issued {
    /// Returns whether one of its micro-ops uses `port`.
    pub fn uses(&self, port: Port) -> bool {
        self.ports >> port as u8 & 1 != 0
    }
}

/// Receives the events of the generation of a program. By default each method does nothing.
pub trait GenerationTracer {
    /// A decoding cycle begins, with a group of slots of these sizes in bytes (Table 6.3.1). The
    /// macro-ops that are issued next fill the slots in order. The generator may abandon a group before
    /// all are filled.
    #[inline(always)]
    fn group(&mut self, _sizes: &'static [u8]) {}

    /// A macro-op is issued.
    #[inline(always)]
    fn issued(&mut self, _macro_op: Issued) {}

    /// All macro-ops of the program's next instruction are issued.
    #[inline(always)]
    fn instruction(&mut self, _instruction: &Instruction) {}

    /// An instruction of this kind found no register and is discarded. Its issued macro-ops keep their
    /// ports.
    #[inline(always)]
    fn discarded(&mut self, _kind: Kind) {}
}

/// A no-op tracer.
impl GenerationTracer for () {}
