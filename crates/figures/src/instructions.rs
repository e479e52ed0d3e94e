//! Which instructions programs have and run (specification 5, Table 5.1.1).

use randomx::program::{Opcode, Program};
use randomx::trace::Tracer;

use crate::names::opcode_name;
use crate::share;

/// Counts instructions: those that programs list, and those that run.
#[derive(Clone, Debug, Default)]
pub struct Instructions {
    opcodes: Vec<Opcode>,
    /// How often each instruction of the program in progress has run.
    runs: Vec<u64>,
    listed: Counts,
    executed: Counts,
}

type Counts = [u64; Opcode::FREQUENCIES.len()];

/// How often an instruction was found.
#[derive(Clone, Debug, PartialEq)]
pub struct InstructionCount {
    /// Which one.
    pub opcode: Opcode,
    /// Its name in the specification.
    pub name: &'static str,
    /// The part of all instructions that the specification gives it: its frequency in 256.
    pub nominal: f64,
    /// How often programs list it.
    pub listed: u64,
    /// As a part of all that are listed.
    pub listed_share: f64,
    /// How often it has run.
    pub executed: u64,
    /// As a part of all that have run.
    pub executed_share: f64,
}

impl Instructions {
    /// The counts of all 29 instructions, in the specification's order.
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
