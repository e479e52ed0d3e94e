//! Programs (specification 4.5 and 5.1): the bytes that program the VM, taken apart.

mod decode;
mod instruction;

pub use decode::{Address, Operation, SCALE_BITS, Sink, ZERO_REGISTER, decode, decode_dyn};
pub use instruction::{Instruction, Opcode};

use bytemuck::Zeroable;

use crate::aes::AesGenerator4R;
use crate::f64x2::F64x2;
use crate::params::{DATASET_EXTRA_ITEMS, PROGRAM_CONFIGURATION_SIZE, Version};

const CONFIGURATION_WORDS: usize = PROGRAM_CONFIGURATION_SIZE / 8;

/// A program: its configuration and its instructions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Which RandomX it is for.
    pub version: Version,
    /// Table 4.5.1.
    pub configuration: Configuration,
    /// 256 instructions in v1, 384 in v2.
    pub instructions: Vec<Instruction>,
}

/// What a program fixes besides its instructions (Table 4.5.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Configuration {
    /// The group A registers.
    pub a: [F64x2; 4],
    /// Initial value of `ma`.
    pub ma: u32,
    /// Initial value of `mx`.
    pub mx: u32,
    /// `readReg0` to `readReg3`, as indices of integer registers.
    pub read_registers: [u8; 4],
    /// The dataset offset in items (specification 4.5.5).
    pub dataset_offset: u32,
    /// What is ORed into a pair that is converted to group E (specification 4.5.6).
    pub e_mask: F64x2,
}

impl Program {
    /// A program without instructions.
    pub fn empty() -> Program {
        let (version, configuration) = (Version::V1, Configuration::ZERO);
        Program { version, configuration, instructions: Vec::new() }
    }

    /// The next program of a hash.
    pub fn generate(generator: &mut AesGenerator4R, version: Version) -> Program {
        let mut program = Program::empty();
        program.regenerate(generator, version);
        program
    }

    /// Becomes the next program of a hash, in the memory that it has.
    pub fn regenerate(&mut self, generator: &mut AesGenerator4R, version: Version) {
        let mut configuration = [[0; 64]; PROGRAM_CONFIGURATION_SIZE / 64];
        generator.fill(&mut configuration);
        let words = configuration.as_flattened().as_chunks().0;
        self.configuration =
            Configuration::new(&std::array::from_fn(|i| u64::from_le_bytes(words[i])));
        self.version = version;
        self.instructions.resize(version.program_size(), Instruction::zeroed());
        generator.fill(bytemuck::cast_slice_mut(&mut self.instructions));
        for instruction in &mut self.instructions {
            instruction.imm32 = u32::from_le(instruction.imm32);
        }
    }
}

impl Configuration {
    /// All zero, for programs that run without a loop.
    pub const ZERO: Configuration = Configuration {
        a: [F64x2::ZERO; 4],
        ma: 0,
        mx: 0,
        read_registers: [0; 4],
        dataset_offset: 0,
        e_mask: F64x2::ZERO,
    };

    fn new(quadwords: &[u64; CONFIGURATION_WORDS]) -> Configuration {
        let read_register = |i: u8| 2 * i + (quadwords[12] >> i & 1) as u8;
        Configuration {
            a: std::array::from_fn(|i| {
                F64x2::from_bits([quadwords[2 * i], quadwords[2 * i + 1]].map(group_a))
            }),
            ma: quadwords[8] as u32,
            mx: quadwords[10] as u32,
            read_registers: [0, 1, 2, 3].map(read_register),
            dataset_offset: (quadwords[13] % (DATASET_EXTRA_ITEMS + 1)) as u32,
            e_mask: F64x2::from_bits([quadwords[14], quadwords[15]].map(group_e_mask)),
        }
    }
}

/// A number in [1, 2^32) with a random fraction (specification 4.5.2).
fn group_a(quadword: u64) -> u64 {
    const FRACTION: u64 = (1 << 52) - 1;
    (1023 + (quadword >> 59)) << 52 | (quadword & FRACTION)
}

/// The constant and the random bits of a group E exponent, and 22 bits of fraction
/// (specification 4.3.2).
fn group_e_mask(quadword: u64) -> u64 {
    const FRACTION: u64 = (1 << 22) - 1;
    (0b011 << 8 | quadword >> 60 << 4) << 52 | (quadword & FRACTION)
}
