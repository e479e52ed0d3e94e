//! The frequency of instructions in programs and at run time (specification 5, Table 5.1.1).

use randomx::program::{Opcode, Program};
use randomx::trace::Tracer;

use crate::names::opcode_name;
use crate::share;

/// Counts instructions: those in programs, and those that are executed.
#[derive(Clone, Debug, Default)]
pub struct Instructions {
    opcodes: Vec<Opcode>,
    /// The number of executions of each instruction of the present program.
    runs: Vec<u64>,
    listed: Counts,
    executed: Counts,
}

type Counts = [u64; Opcode::FREQUENCIES.len()];

/// The counts of one kind of instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct InstructionCount {
    /// The instruction.
    pub opcode: Opcode,
    /// Its name in the specification.
    pub name: &'static str,
    /// Its share of all instructions by the specification: a frequency of 256.
    pub nominal: f64,
    /// The number of times that programs list it.
    pub listed: u64,
    /// Its share of all listed instructions.
    pub listed_share: f64,
    /// The number of times that it was executed.
    pub executed: u64,
    /// Its share of all executed instructions.
    pub executed_share: f64,
}

impl Instructions {
    /// Returns the counts of all 29 instructions, in the specification's order.
    pub fn summary(&self) -> Vec<InstructionCount> {
        let mut executed = self.executed;
        fold(&self.opcodes, &self.runs, &mut executed);
        let (all_listed, all_executed) = (self.listed.iter().sum(), executed.iter().sum());
        let counts = self.listed.into_iter().zip(executed);
        let counts = Opcode::FREQUENCIES.iter().zip(counts);
        counts
            .map(|(&(opcode, frequency), (listed, executed))| InstructionCount {
                opcode,
                name: opcode_name(opcode),
                nominal: frequency as f64 / 256.0,
                listed,
                listed_share: share(listed, all_listed),
                executed,
                executed_share: share(executed, all_executed),
            })
            .collect()
    }
}

impl Tracer for Instructions {
    fn program(&mut self, program: &Program) {
        fold(&self.opcodes, &self.runs, &mut self.executed);
        self.opcodes.clear();
        self.opcodes.extend(program.instructions.iter().map(|instruction| instruction.opcode()));
        self.runs.clear();
        self.runs.resize(self.opcodes.len(), 0);
        for opcode in &self.opcodes {
            self.listed[*opcode as usize] += 1;
        }
    }

    #[inline]
    fn instruction(&mut self, index: usize) {
        if let Some(runs) = self.runs.get_mut(index) {
            *runs += 1;
        }
    }
}

fn fold(opcodes: &[Opcode], runs: &[u64], executed: &mut Counts) {
    for (opcode, runs) in opcodes.iter().zip(runs) {
        executed[*opcode as usize] += runs;
    }
}
