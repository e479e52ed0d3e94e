//! The reference CPU of specification 6.2: what each instruction decodes to, how long it takes,
//! and which execution ports are busy when.

use super::Kind;
use crate::params::SUPERSCALAR_LATENCY;

/// A set of execution ports that a micro-op can go to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Ports(u8);

const P0: Ports = Ports(1);
const P1: Ports = Ports(2);
const P5: Ports = Ports(4);
const P01: Ports = Ports(P0.0 | P1.0);
const P05: Ports = Ports(P0.0 | P5.0);
const P015: Ports = Ports(P0.0 | P1.0 | P5.0);

/// A macro-op of Table 6.2.1.
pub(super) struct MacroOp {
    /// Cycles until the result is ready.
    pub(super) latency: usize,
    /// The ports of its micro-ops: none for a move, which the CPU eliminates.
    micro_ops: &'static [Ports],
    /// Whether it cannot start before the macro-op in front of it is done.
    dependent: bool,
}

const fn op(latency: usize, micro_ops: &'static [Ports]) -> MacroOp {
    MacroOp { latency, micro_ops, dependent: false }
}

const SUB_RR: MacroOp = op(1, &[P015]);
const XOR_RR: MacroOp = op(1, &[P015]);
const LEA_SIB: MacroOp = op(1, &[P01]);
const IMUL_RR: MacroOp = op(3, &[P1]);
const ROR_RI: MacroOp = op(1, &[P05]);
const ADD_RI: MacroOp = op(1, &[P015]);
const XOR_RI: MacroOp = op(1, &[P015]);
const MOV_RR: MacroOp = op(0, &[]);
const MUL_R: MacroOp = op(4, &[P1, P5]);
const MOV_RI: MacroOp = op(1, &[P015]);
const IMUL_RR_AFTER_MOV: MacroOp = MacroOp { dependent: true, ..IMUL_RR };

/// How an instruction looks to the reference CPU.
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
    /// The macro-ops of Table 6.1.1 for an operation.
    pub(super) const fn of(kind: Kind) -> Decoded {
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
}

/// Cycles that the schedule covers: a macro-op may start in the last target cycle or a little after.
const CYCLES: usize = SUPERSCALAR_LATENCY + 4;

/// Which ports are taken in which cycle.
pub(super) struct Schedule {
    busy: [u8; CYCLES],
}

impl Schedule {
    pub(super) fn new() -> Schedule {
        Schedule { busy: [0; CYCLES] }
    }

    /// The earliest cycle, from `cycle` on, in which all of the macro-op's micro-ops find a port;
    /// a dependent one starts at `ready` at the earliest. `None` when the ports are saturated.
    pub(super) fn earliest(&self, op: &MacroOp, cycle: usize, ready: usize) -> Option<usize> {
        self.find(op, cycle, ready).map(|(cycle, _)| cycle)
    }

    /// Takes the ports that [`earliest`](Self::earliest) finds.
    pub(super) fn issue(&mut self, op: &MacroOp, cycle: usize, ready: usize) -> Option<usize> {
        let (cycle, ports) = self.find(op, cycle, ready)?;
        if let Some(busy) = self.busy.get_mut(cycle) {
            *busy |= ports;
        }
        Some(cycle)
    }

    fn find(&self, op: &MacroOp, cycle: usize, ready: usize) -> Option<(usize, u8)> {
        let cycle = if op.dependent { cycle.max(ready) } else { cycle };
        if op.micro_ops.is_empty() {
            return Some((cycle, 0));
        }
        (cycle..CYCLES).find_map(|cycle| {
            // Micro-ops of one macro-op go to disjoint ports, so each is placed on its own.
            let free = |ports: &Ports| pick(ports.0 & !self.busy[cycle]);
            let taken = op.micro_ops.iter().map(free).try_fold(0, |all, port| Some(all | port?))?;
            Some((cycle, taken))
        })
    }
}

/// One of the free ports, in the order P5, P0, P1, which keeps P1 for multiplications.
fn pick(free: u8) -> Option<u8> {
    [P5, P0, P1].into_iter().map(|port| port.0).find(|port| free & port != 0)
}
