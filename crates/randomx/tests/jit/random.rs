//! Random programs and operands, with many edge cases.

use randomx::Version;
use randomx::aes::{Aes, AesGenerator4R};
use randomx::cpu::Cpu;
use randomx::program::{Opcode, Program};

/// A source of random programs and operands, with many edge cases.
#[derive(Clone)]
pub(crate) struct Random {
    generator: AesGenerator4R,
    words: Vec<[u8; 8]>,
}

impl Random {
    pub(crate) fn new(version: Version) -> Random {
        let seed = [version as u8 + 1; 64];
        let generator = AesGenerator4R::new(&seed, Aes::new(Cpu::detect()));
        Random { generator, words: Vec::new() }
    }

    pub(crate) fn word(&mut self) -> u64 {
        if self.words.is_empty() {
            let mut blocks = [[0; 64]; 16];
            self.generator.fill(&mut blocks);
            self.words = blocks.as_flattened().as_chunks().0.to_vec();
        }
        self.words.pop().map(u64::from_le_bytes).expect("the list was just filled")
    }

    fn one_in(&mut self, count: u64) -> bool {
        self.word() >> 32 & (count - 1) == 0
    }

    /// Returns a word, often an edge case.
    pub(crate) fn operand(&mut self) -> u64 {
        let word = self.word();
        match word & 15 {
            0 => 0,
            1 => u64::MAX,
            2 => 1 << 63,
            3 => i64::MAX as u64,
            4 => 1 << (word >> 8 & 63),
            _ => word,
        }
    }

    fn immediate(&mut self) -> u32 {
        let word = self.word();
        match word & 7 {
            0 => 0,
            1 => 1,
            2 => u32::MAX,
            3 => i32::MIN as u32,
            4 => i32::MAX as u32,
            5 => 1 << (word >> 8 & 31),
            6 => (word >> 8 & 255) as u32,
            _ => (word >> 32) as u32,
        }
    }

    /// Returns a program of the hash chain with some fields replaced. In a quarter of the
    /// instructions all opcodes are equally likely, in half the immediate is an edge case, and in an
    /// eighth both operands are the same.
    pub(crate) fn program(&mut self, version: Version) -> Program {
        let mut program = Program::generate(&mut self.generator, version);
        for instruction in &mut program.instructions {
            if self.one_in(4) {
                let wanted = (self.word() >> 40) as usize % Opcode::FREQUENCIES.len();
                let before = Opcode::FREQUENCIES[..wanted].iter().map(|(_, count)| count);
                instruction.opcode = before.sum::<usize>() as u8;
            }
            if self.one_in(2) {
                instruction.imm32 = self.immediate();
            }
            if self.one_in(8) {
                instruction.src = instruction.dst;
            }
        }
        program
    }
}
