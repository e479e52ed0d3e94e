//! The reference CPU of specification 6.2: the macro-ops of each instruction, their latencies, and the
//! schedule of execution ports.
//!
//! The generator's queries are as random as the program that it generates. The processor would
//! mispredict loops and conditions, which costs more than computing all cases.

use super::Kind;
use crate::params::SUPERSCALAR_LATENCY;

/// A set of execution ports that a micro-op can use. The lowest free bit is used: P5, P0, then P1,
/// which is kept for multiplications.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Ports(u8);

const P5: Ports = Ports(1);
const P0: Ports = Ports(2);
const P1: Ports = Ports(4);
const P01: Ports = Ports(P0.0 | P1.0);
const P05: Ports = Ports(P0.0 | P5.0);
const P015: Ports = Ports(P0.0 | P1.0 | P5.0);
const NO_PORTS: Ports = Ports(0);

/// A macro-op of Table 6.2.1.
#[derive(Clone, Copy)]
pub(super) struct MacroOp {
    /// Cycles until the result is ready.
    pub(super) latency: usize,
    /// The ports of its micro-op. A move has none, because the CPU eliminates it.
    ports: Ports,
    /// The port of a second micro-op.
    second: Ports,
    /// Whether it starts only after the macro-op before it is done.
    dependent: bool,
}

const fn op(latency: usize, ports: Ports) -> MacroOp {
    MacroOp { latency, ports, second: NO_PORTS, dependent: false }
}

const SUB_RR: MacroOp = op(1, P015);
const XOR_RR: MacroOp = op(1, P015);
const LEA_SIB: MacroOp = op(1, P01);
const IMUL_RR: MacroOp = op(3, P1);
const ROR_RI: MacroOp = op(1, P05);
const ADD_RI: MacroOp = op(1, P015);
const XOR_RI: MacroOp = op(1, P015);
const MOV_RR: MacroOp = op(0, NO_PORTS);
const MUL_R: MacroOp = MacroOp { second: P5, ..op(4, P1) };
const MOV_RI: MacroOp = op(1, P015);
const IMUL_RR_AFTER_MOV: MacroOp = MacroOp { dependent: true, ..IMUL_RR };

/// An instruction as the reference CPU decodes it.
#[derive(Clone, Copy)]
pub(super) struct Decoded {
    /// Its macro-ops, in order.
    pub(super) macro_ops: &'static [MacroOp],
    /// The macro-op at which the source register is chosen, if there is one.
    pub(super) source_at: Option<usize>,
    /// The macro-op at which the destination register is chosen.
    pub(super) destination_at: usize,
    /// The macro-op that writes the result.
    pub(super) result_at: usize,
}

const fn single(macro_ops: &'static [MacroOp], source_at: Option<usize>) -> Decoded {
    Decoded { macro_ops, source_at, destination_at: 0, result_at: 0 }
}

const MULTIPLY_HIGH: Decoded = Decoded {
    macro_ops: &[MOV_RR, MUL_R, MOV_RR],
    source_at: Some(1),
    destination_at: 0,
    result_at: 1,
};

impl Decoded {
    /// An instruction without macro-ops.
    pub(super) const NONE: Decoded = single(&[], None);

    /// Returns the decoded form of an operation.
    #[inline]
    pub(super) fn of(kind: Kind) -> &'static Decoded {
        static DECODED: [Decoded; Kind::ALL.len()] = {
            let mut table = [decoded(Kind::IsubR); Kind::ALL.len()];
            let mut i = 0;
            while i < table.len() {
                table[Kind::ALL[i] as usize] = decoded(Kind::ALL[i]);
                i += 1;
            }
            table
        };
        &DECODED[kind as usize]
    }
}

/// Returns the row of Table 6.1.1 for an operation.
const fn decoded(kind: Kind) -> Decoded {
    match kind {
        Kind::IsubR => single(&[SUB_RR], Some(0)),
        Kind::IxorR => single(&[XOR_RR], Some(0)),
        Kind::IaddRs => single(&[LEA_SIB], Some(0)),
        Kind::ImulR => single(&[IMUL_RR], Some(0)),
        Kind::IrorC => single(&[ROR_RI], None),
        Kind::IaddC7 | Kind::IaddC8 | Kind::IaddC9 => single(&[ADD_RI], None),
        Kind::IxorC7 | Kind::IxorC8 | Kind::IxorC9 => single(&[XOR_RI], None),
        Kind::ImulhR | Kind::IsmulhR => MULTIPLY_HIGH,
        Kind::ImulRcp => Decoded {
            macro_ops: &[MOV_RI, IMUL_RR_AFTER_MOV],
            source_at: None,
            destination_at: 1,
            result_at: 1,
        },
    }
}

/// The number of cycles in the schedule: a macro-op may start in the last target cycle or a little
/// later.
const CYCLES: usize = SUPERSCALAR_LATENCY + 4;

/// The cycles in which each port is busy.
pub(super) struct Schedule {
    /// For each port, in the order of their bits.
    busy: [Cycles; 3],
}

/// A bit for each cycle.
type Cycles = [u64; WORDS];

/// One word more than the cycles need, so that 64 bits can be read from any cycle on.
const WORDS: usize = CYCLES / 64 + 2;

impl Schedule {
    pub(super) fn new() -> Schedule {
        Schedule { busy: [[0; WORDS]; 3] }
    }

    /// Returns the earliest cycle, from `cycle` on, in which each micro-op of the macro-op finds a port.
    /// A dependent macro-op starts no earlier than `ready`. Returns `None` if the ports are saturated.
    #[inline]
    pub(super) fn earliest(&self, op: &MacroOp, cycle: usize, ready: usize) -> Option<usize> {
        let mut cycle = cycle.max(if op.dependent { ready } else { 0 });
        if op.ports == NO_PORTS {
            return Some(cycle);
        }
        loop {
            if cycle >= CYCLES {
                return None;
            }
            let [p5, p0, p1] = self.busy.each_ref().map(|bits| window(bits, cycle));
            let closed =
                |ports: Ports, port: Ports| u64::from(ports.0 & port.0 != 0).wrapping_sub(1);
            let first = (p5 | closed(op.ports, P5))
                & (p0 | closed(op.ports, P0))
                & (p1 | closed(op.ports, P1));
            // The only second micro-op, that of MUL_R, uses P5.
            let taken = first | (p5 & !closed(op.second, P5));
            let wait = (!taken).trailing_zeros() as usize;
            cycle += wait;
            if wait < 64 {
                return (cycle < CYCLES).then_some(cycle);
            }
        }
    }

    /// Marks the ports of a macro-op as busy in `cycle`, which [`earliest`](Self::earliest) returned.
    /// Returns them, a bit each.
    #[inline]
    pub(super) fn issue(&mut self, op: &MacroOp, cycle: usize) -> u8 {
        let (word, bit) = (cycle / 64 % WORDS, cycle % 64);
        let busy = |port: usize| (self.busy[port][word] >> bit & 1) << port;
        let free = op.ports.0 & !(busy(0) | busy(1) | busy(2)) as u8;
        let taken = (free & free.wrapping_neg()) | op.second.0;
        for (port, bits) in self.busy.iter_mut().enumerate() {
            bits[word] |= u64::from(taken >> port & 1) << bit;
        }
        taken
    }
}

/// Returns the 64 bits from `first` on.
#[inline]
fn window(bits: &Cycles, first: usize) -> u64 {
    let (word, bit) = (first / 64 % (WORDS - 1), first % 64);
    bits[word] >> bit | bits[word + 1] << 1 << (63 - bit)
}
