//! The model processor: fetch and decode, access memory, execute.

use std::fmt;

use rand::{Rng, RngExt};

use super::demand::{Demand, REGISTERS};

/// The stages of the pipeline. A mispredicted branch, or one that is not predicted, empties all but the
/// last.
const STAGES: u32 = 3;

/// The probability that a branch is taken, which is never predicted.
const TAKEN: f64 = 1.0 / 256.0;

/// A processor design.
#[derive(Clone, Copy, Debug)]
pub(super) struct Design {
    /// Execution units.
    exu: u32,
    /// Memory units.
    mem: u32,
    /// Whether instructions execute as soon as their operands are ready, rather than in order.
    out_of_order: bool,
    /// Whether branches are predicted, as not taken.
    speculative: bool,
}

impl Design {
    pub(super) const fn new(exu: u32, mem: u32, out_of_order: bool, speculative: bool) -> Design {
        Design { exu, mem, out_of_order, speculative }
    }

    /// Returns the cycles that a program takes.
    pub(super) fn execute(&self, program: &[Demand], random: &mut impl Rng) -> u32 {
        let cycles = if self.out_of_order {
            self.execute_out_of_order(program)
        } else {
            self.execute_in_order(program)
        };
        let branches = program.iter().filter(|demand| demand.branches);
        let mispredicted =
            branches.filter(|_| self.speculative && random.random_bool(TAKEN)).count();
        cycles + mispredicted as u32 * (STAGES - 1)
    }

    /// Every cycle executes the next instructions up to the first that lacks a unit or an operand. When the memory units
    /// are used up, nothing more executes in that cycle.
    fn execute_in_order(&self, program: &[Demand]) -> u32 {
        // The first instruction executes after it has passed the other stages.
        let mut cycle = STAGES - 1;
        let mut ready = [0; REGISTERS];
        let mut rest = program;
        while !rest.is_empty() {
            let (mut exu, mut mem) = (self.exu, self.mem);
            let mut rounding_set = false;
            let mut stall = 0;
            while let Some((demand, later)) = rest.split_first() {
                let unready = |register: Option<u8>, cycle: u32| {
                    register.is_some_and(|register| ready[usize::from(register)] > cycle)
                };
                let blocked = unready(demand.source, cycle)
                    || unready(demand.destination, cycle)
                    || unready(demand.address, cycle - 1)
                    || (demand.rounds && rounding_set);
                // Every decoded instruction takes an execution slot, even a store.
                if exu == 0 || mem == 0 || blocked {
                    break;
                }
                exu -= 1;
                mem -= u32::from(demand.memory);
                let written = [demand.destination, demand.source.filter(|_| demand.swaps)];
                for register in written.into_iter().flatten() {
                    ready[usize::from(register)] = cycle + 1;
                }
                rounding_set |= demand.sets_rounding;
                rest = later;
                if demand.branches && !self.speculative {
                    stall = STAGES - 1;
                    break;
                }
            }
            cycle += 1 + stall;
        }
        cycle
    }

    /// Every instruction executes as soon as it has a unit and its operands.
    fn execute_out_of_order(&self, program: &[Demand]) -> u32 {
        let mut units = Units::default();
        let mut ready = [0; REGISTERS];
        let (mut rounding, mut branch, mut last) = (0, 0, 0);
        for demand in program {
            // A branch's condition can be computed before it is known whether the branch is reached.
            let waits = !self.speculative && !demand.branches;
            let earliest = (STAGES - 1).max(if waits { branch } else { 0 });
            if let Some(source) = demand.source {
                // Registers are not renamed, so a later write of this one waits for this read.
                let ready = &mut ready[usize::from(source)];
                *ready = earliest.max(*ready);
            }
            let known = |register: Option<u8>| register.map_or(0, |r| ready[usize::from(r)]);
            let mut cycle = earliest
                .max(known(demand.source))
                .max(known(demand.destination))
                .max(if demand.rounds { rounding } else { 0 });
            if demand.memory {
                // Memory is accessed one cycle before execution, so the address must be ready by then.
                cycle = cycle.max(known(demand.address) + 1);
                cycle = units.take(Unit::Memory, cycle - 1, self.mem) + 1;
            }
            if demand.executes() {
                cycle = units.take(Unit::Execution, cycle, self.exu);
            }
            let done = cycle + 1;
            let written = [demand.destination, demand.source.filter(|_| demand.swaps)];
            for register in written.into_iter().flatten() {
                ready[usize::from(register)] = done;
            }
            if demand.sets_rounding {
                rounding = done;
            }
            if demand.branches {
                branch = branch.max(done + STAGES - 1);
            }
            last = last.max(if demand.executes() { done } else { cycle });
        }
        last
    }
}

#[derive(Clone, Copy)]
enum Unit {
    Memory,
    Execution,
}

/// The number of units of each kind that are taken in each cycle.
#[derive(Default)]
struct Units {
    taken: [Vec<u32>; 2],
}

impl Units {
    /// Takes one of `count` units in `cycle`, or in the first cycle after it with a free unit.
    fn take(&mut self, unit: Unit, cycle: u32, count: u32) -> u32 {
        let taken = &mut self.taken[unit as usize];
        let mut at = cycle as usize;
        while taken.get(at).is_some_and(|&taken| taken >= count) {
            at += 1;
        }
        if taken.len() <= at {
            taken.resize(at + 1, 0);
        }
        taken[at] += 1;
        at as u32
    }
}

impl fmt::Display for Design {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let order = if self.out_of_order { "out-of-order" } else { "in-order" };
        let branches = if self.speculative { "speculative" } else { "non-speculative" };
        write!(f, "{} EXU + {} MEM, {order}, {branches}", self.exu, self.mem)
    }
}
