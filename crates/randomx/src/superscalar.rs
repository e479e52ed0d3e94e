//! SuperscalarHash (specification 6): eight random programs of integer instructions, generated from
//! the key, that turn cache lines into dataset items.

mod cpu;
mod execute;
mod function;
mod generator;
mod operands;
#[cfg(test)]
pub(crate) mod samples;
mod tracer;
mod traits;

pub use execute::{Lanes, Width};
pub use function::Function;
pub use generator::{generate, generate_traced, programs};
pub use tracer::{GenerationTracer, Issued, Port};

/// A dataset item: the values of `r0` to `r7`.
pub type Item = [u64; 8];

/// Knuth's multiplier, which spreads item numbers over `r0` (specification 7.3).
pub(crate) const ITEM_MULTIPLIER: u64 = 6_364_136_223_846_793_005;

/// The constants that `r0` is XORed with to initialise each register (specification 7.3).
pub(crate) const ITEM_CONSTANTS: [u64; 8] = [
    0,
    9_298_411_001_130_361_340,
    12_065_312_585_734_608_966,
    9_306_329_213_124_626_780,
    5_281_919_268_842_080_866,
    10_536_153_434_571_861_004,
    3_398_623_926_847_679_864,
    9_549_104_520_008_361_294,
];

/// Returns the initial registers of item `number` (specification 7.3, step 1).
pub fn initial_registers(number: u32) -> Item {
    let first = (u64::from(number) + 1).wrapping_mul(ITEM_MULTIPLIER);
    ITEM_CONSTANTS.map(|constant| first ^ constant)
}

/// The operation of an [`Instruction`] (Table 6.1.1).
///
/// The variants of IADD_C and IXOR_C differ in the bytes that the reference CPU decodes. The
/// discriminants are those of the reference implementation.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    IsubR = 0,
    IxorR = 1,
    IaddRs = 2,
    ImulR = 3,
    IrorC = 4,
    IaddC7 = 5,
    IxorC7 = 6,
    IaddC8 = 7,
    IxorC8 = 8,
    IaddC9 = 9,
    IxorC9 = 10,
    ImulhR = 11,
    IsmulhR = 12,
    ImulRcp = 13,
}

impl Kind {
    /// Every operation.
    pub const ALL: [Kind; 14] = [
        Kind::IsubR,
        Kind::IxorR,
        Kind::IaddRs,
        Kind::ImulR,
        Kind::IrorC,
        Kind::IaddC7,
        Kind::IxorC7,
        Kind::IaddC8,
        Kind::IxorC8,
        Kind::IaddC9,
        Kind::IxorC9,
        Kind::ImulhR,
        Kind::IsmulhR,
        Kind::ImulRcp,
    ];
}

/// An instruction of a SuperscalarHash program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// The operation.
    pub kind: Kind,
    /// Destination register, 0 to 7.
    pub dst: u8,
    /// Source register, 0 to 7. Equal to `dst` if the operation has no source.
    pub src: u8,
    /// The `mod` field: bits 2 and 3 are the shift of IADD_RS.
    pub modifier: u8,
    /// The immediate operand.
    pub imm32: u32,
}

impl Instruction {
    /// Returns the 8-byte encoding of specification 5.1, with the operation's discriminant as opcode.
    pub fn to_bytes(self) -> [u8; 8] {
        let imm = self.imm32.to_le_bytes();
        [self.kind as u8, self.dst, self.src, self.modifier, imm[0], imm[1], imm[2], imm[3]]
    }
}

/// A generated SuperscalarHash program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The instructions, in order.
    pub instructions: Vec<Instruction>,
    /// The register with the longest dependency chain, which selects the next cache line
    /// (specification 7.3, step 7).
    pub address_register: u8,
}

impl Program {
    fn new(instructions: Vec<Instruction>) -> Program {
        let mut program = Program { instructions, address_register: 0 };
        let chains = program.chains();
        // Of several registers with the longest chain, the first one.
        let deepest = (0..8).rev().max_by_key(|&register| chains[register]).unwrap_or(0);
        program.address_register = deepest as u8;
        program
    }

    /// Returns the length of the longest dependency chain of each register, in instructions. These are
    /// the cycles of an ideal CPU, which takes one cycle an instruction and runs all that are ready.
    pub fn chains(&self) -> [u32; 8] {
        let mut depth = [0u32; 8];
        for instruction in &self.instructions {
            let (dst, src) = (usize::from(instruction.dst & 7), usize::from(instruction.src & 7));
            depth[dst] = depth[dst].max(depth[src]) + 1;
        }
        depth
    }
}
