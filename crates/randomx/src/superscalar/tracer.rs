//! What the generator tells while it makes a program, for those who look at how.

use super::{Instruction, Kind};

/// An execution port of the reference CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Port {
    /// Adds and rotates, and has a part in products of 128 bits.
    P5,
    /// Adds, also with a shift, and rotates.
    P0,
    /// Adds, also with a shift, and multiplies.
    P1,
}

impl Port {
    /// The ports in the order in which a micro-op tries them.
    pub const ALL: [Port; 3] = [Port::P5, Port::P0, Port::P1];
}

/// A macro-op that has found its place in the schedule of the reference CPU (specification 6.3.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Issued {
    /// The operation that it is a part of.
    pub kind: Kind,
    /// Which of the operation's macro-ops it is, from 0.
    pub part: usize,
    /// The cycle in which it begins.
    pub cycle: usize,
    /// Cycles until its result is ready.
    pub latency: usize,
    /// The ports that its micro-ops take, a bit each in the order of [`Port::ALL`]. A move takes none.
    pub ports: u8,
}

impl Issued {
    /// Whether a micro-op of it takes this port.
    pub fn takes(&self, port: Port) -> bool {
        self.ports >> port as u8 & 1 != 0
    }
}

/// Is told how a program is made. Each method does nothing unless it is written.
pub trait GenerationTracer {
    /// A decoding cycle begins, with a group of slots of these sizes in bytes (Table 6.3.1). The macro-ops
    /// that are issued next fill them in order; a group may be given up before all are filled.
    #[inline(always)]
    fn group(&mut self, _sizes: &'static [u8]) {}

    /// A macro-op is issued.
    #[inline(always)]
    fn issued(&mut self, _macro_op: Issued) {}

    /// All macro-ops of an instruction are issued: it is the program's next.
    #[inline(always)]
    fn instruction(&mut self, _instruction: &Instruction) {}

    /// An instruction of this kind found no register and is dropped. What was issued of it keeps its
    /// ports.
    #[inline(always)]
    fn discarded(&mut self, _kind: Kind) {}
}

/// Nobody.
impl GenerationTracer for () {}
