//! Factors of a program that take several instructions to load. They follow the code in memory. The
//! first ones stay in registers.

use super::registers::{CONSTANTS, T};
use crate::jit::aarch64::assembler::{Assembler, Gpr, Label};
use crate::program::{Instruction, Opcode};

/// The literals of a program, in the order of their use.
pub(super) struct Literals {
    /// Where they are, once a program has begun.
    label: Option<Label>,
    values: Vec<u64>,
    /// How many of them are loaded into [`CONSTANTS`].
    in_registers: usize,
}

impl Literals {
    pub(super) fn new() -> Literals {
        Literals { label: None, values: Vec::new(), in_registers: 0 }
    }

    /// Removes the last program's literals, and emits loads of the next one's first literals.
    pub(super) fn begin(&mut self, assembler: &mut Assembler, instructions: &[Instruction]) {
        let label = assembler.label();
        self.label = Some(label);
        self.values.clear();
        let factors = instructions.iter().filter(|word| multiplies_by_literal(word));
        self.in_registers = factors.take(CONSTANTS.len()).count();
        let [place, ..] = T;
        if self.in_registers > 0 {
            assembler.adr(place, label);
        }
        let registers = &CONSTANTS[..self.in_registers];
        let (pairs, last) = registers.as_chunks::<2>();
        for [one, other] in pairs {
            assembler.ldp_next(*one, *other, place);
        }
        if let [last] = last {
            assembler.ldr(*last, place, 0);
        }
    }

    /// Returns a register with `value`; loads it into `temporary` if no other register is left.
    pub(super) fn load(&mut self, assembler: &mut Assembler, value: u64, temporary: Gpr) -> Gpr {
        let index = self.values.len();
        self.values.push(value);
        if index < self.in_registers {
            return CONSTANTS[index];
        }
        if let Some(label) = self.label {
            assembler.ldr_literal(temporary, label, index);
        }
        temporary
    }

    /// Emits the literals behind the code.
    pub(super) fn emit(&mut self, assembler: &mut Assembler) {
        // Loads into registers read as many as there are registers.
        self.values.resize(self.values.len().max(self.in_registers), 0);
        assembler.align(8);
        if let Some(label) = self.label.take() {
            assembler.bind(label);
        }
        for &value in &self.values {
            assembler.data(value);
        }
    }
}

/// Whether a factor takes more than one instruction to load.
pub(super) fn is_literal(factor: u64) -> bool {
    factor >> 16 != 0 && !factor >> 16 != 0
}

/// Whether an instruction multiplies by a literal: IMUL_RCP, or IMUL_R with an immediate operand.
fn multiplies_by_literal(word: &Instruction) -> bool {
    match word.opcode() {
        Opcode::ImulRcp => word.imm32 & word.imm32.wrapping_sub(1) != 0,
        Opcode::ImulR => word.dst & 7 == word.src & 7 && is_literal(word.imm32 as i32 as u64),
        _ => false,
    }
}
