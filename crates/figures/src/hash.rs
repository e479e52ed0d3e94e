//! All figures of hashes at once.

use randomx::f64x2::F64x2;
use randomx::program::Program;
use randomx::registers::RegisterFile;
use randomx::trace::Tracer;

use crate::{Accesses, Branches, Floats, Instructions};

/// The figures that accumulate over any number of hashes.
#[derive(Clone, Debug, Default)]
pub struct HashFigures {
    /// The frequency of instructions.
    pub instructions: Instructions,
    /// Reads and writes.
    pub accesses: Accesses,
    /// Taken branches.
    pub branches: Branches,
    /// The values of floating point registers.
    pub floats: Floats,
}

impl Tracer for HashFigures {
    fn program(&mut self, program: &Program) {
        self.instructions.program(program);
        self.accesses.program(program);
        self.branches.program(program);
        self.floats.program(program);
    }

    #[inline]
    fn instruction(&mut self, index: usize) {
        self.instructions.instruction(index);
        self.branches.instruction(index);
    }

    #[inline]
    fn read(&mut self, address: u32, mask: u32) {
        self.accesses.read(address, mask);
    }

    #[inline]
    fn write(&mut self, address: u32, mask: u32) {
        self.accesses.write(address, mask);
    }

    #[inline]
    fn branch(&mut self, taken: bool) {
        self.branches.branch(taken);
    }

    #[inline]
    fn float(&mut self, register: u8, value: F64x2) {
        self.floats.float(register, value);
    }

    fn executed(&mut self, registers: &RegisterFile) {
        self.floats.executed(registers);
    }

    fn iterated(&mut self, registers: &RegisterFile) {
        self.accesses.iterated(registers);
    }
}
