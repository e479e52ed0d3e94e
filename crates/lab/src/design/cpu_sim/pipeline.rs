//! The model processor: fetch and decode, access memory, execute.

use std::fmt;

use rand::{Rng, RngExt};

use super::demand::{Demand, REGISTERS};

/// The stages of the pipeline. A branch that has to be waited for, or was guessed wrong, leaves all but
/// the last of them empty.
const STAGES: u32 = 3;

/// A branch is taken, which is never guessed, with this probability.
const TAKEN: f64 = 1.0 / 256.0;

/// A processor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Design {
    /// Execution units.
    exu: u32,
    /// Memory units.
    mem: u32,
    /// Whether instructions are executed when what they need is there, not in order.
    out_of_order: bool,
    /// Whether branches are taken for not taken until they are executed.
    speculative: bool,
}

impl Design {
    pub(super) const fn new(exu: u32, mem: u32, out_of_order: bool, speculative: bool) -> Design {
        Design { exu, mem, out_of_order, speculative }
    }

    /// The cycles that a program takes.
    pub(super) fn execute(&self, program: &[Demand], random: &mut impl Rng) -> u32 {
        let cycles = if self.out_of_order {
            self.execute_out_of_order(program)
        } else {
            self.execute_in_order(program)
        };
        let branches = program.iter().filter(|demand| demand.branches);
        let wrong = branches.filter(|_| self.speculative && random.random_bool(TAKEN)).count();
        cycles + wrong as u32 * (STAGES - 1)
    }

    /// In every cycle as many instructions are executed as have units and what they need.
    fn execute_in_order(&self, program: &[Demand]) -> u32 {
        // The first instruction is executed when it has been through the other stages.
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
                // Decoded instructions take a slot each, whether they are executed or stored.
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

    /// Every instruction is executed as soon as it has a unit and what it needs.
    fn execute_out_of_order(&self, program: &[Demand]) -> u32 {
        let mut units = Units::default();
        let mut ready = [0; REGISTERS];
        let (mut rounding, mut branch, mut last) = (0, 0, 0);
        for demand in program {
            // Conditions of branches can be known before it is known whether they are reached.
            let waits = !self.speculative && !demand.branches;
            let earliest = (STAGES - 1).max(if waits { branch } else { 0 });
            if let Some(source) = demand.source {
                // Registers are not renamed: what writes this one later waits until it is read.
                let ready = &mut ready[usize::from(source)];
                *ready = earliest.max(*ready);
            }
            let known = |register: Option<u8>| register.map_or(0, |r| ready[usize::from(r)]);
            let mut cycle = earliest
                .max(known(demand.source))
                .max(known(demand.destination))
                .max(if demand.rounds { rounding } else { 0 });
            if demand.memory {
                // Memory is accessed a cycle before, with the address that is known by then.
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

/// How many units of each kind are taken in each cycle.
#[derive(Default)]
struct Units {
    taken: [Vec<u32>; 2],
}

impl Units {
    /// Takes a unit, of which there are so many, in a cycle or as soon after it as one is free.
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
