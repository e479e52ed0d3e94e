//! Decodes instructions once per program into operations whose operands, masks and branch
//! targets are resolved (specification 5.2 to 5.5).

use super::{Instruction, Opcode};
use crate::params::{JUMP_OFFSET, Version};
use crate::reciprocal::reciprocal;
use crate::scratchpad::{L1_MASK, L2_MASK, L3_MASK};

/// A register index that always reads zero: the base of addresses that are constants.
pub const ZERO_REGISTER: u8 = 8;

/// What FSCAL_R flips: the sign and the low exponent bits (specification 5.3.4).
pub const SCALE_BITS: u64 = 0x80f0_0000_0000_0000;

/// IADD_RS adds its immediate only to this register.
const DISPLACED_REGISTER: u8 = 5;

/// A scratchpad address: register plus offset, masked to a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// An integer register, or [`ZERO_REGISTER`].
    pub register: u8,
    /// `imm32`; the masks leave nothing of its sign extension.
    pub offset: u32,
    /// One of the masks of Table 4.2.1.
    pub mask: u32,
}

/// An operation ready to run. Its suffix tells the source operand: `R` a register, `C` a
/// constant, `M` the scratchpad. Register indices are in range for their group.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Nop,
    IaddRs {
        dst: u8,
        src: u8,
        shift: u8,
        constant: i32,
    },
    IaddM {
        dst: u8,
        address: Address,
    },
    IsubR {
        dst: u8,
        src: u8,
    },
    IsubC {
        dst: u8,
        constant: i32,
    },
    IsubM {
        dst: u8,
        address: Address,
    },
    ImulR {
        dst: u8,
        src: u8,
    },
    ImulC {
        dst: u8,
        constant: u64,
    },
    ImulM {
        dst: u8,
        address: Address,
    },
    ImulhR {
        dst: u8,
        src: u8,
    },
    ImulhM {
        dst: u8,
        address: Address,
    },
    IsmulhR {
        dst: u8,
        src: u8,
    },
    IsmulhM {
        dst: u8,
        address: Address,
    },
    InegR {
        dst: u8,
    },
    IxorR {
        dst: u8,
        src: u8,
    },
    IxorC {
        dst: u8,
        constant: i32,
    },
    IxorM {
        dst: u8,
        address: Address,
    },
    IrorR {
        dst: u8,
        src: u8,
    },
    IrorC {
        dst: u8,
        count: u8,
    },
    IrolR {
        dst: u8,
        src: u8,
    },
    IswapR {
        dst: u8,
        src: u8,
    },
    FswapF {
        dst: u8,
    },
    FswapE {
        dst: u8,
    },
    FaddR {
        dst: u8,
        src: u8,
    },
    FaddM {
        dst: u8,
        address: Address,
    },
    FsubR {
        dst: u8,
        src: u8,
    },
    FsubM {
        dst: u8,
        address: Address,
    },
    FscalR {
        dst: u8,
    },
    FmulR {
        dst: u8,
        src: u8,
    },
    FdivM {
        dst: u8,
        address: Address,
    },
    FsqrtR {
        dst: u8,
    },
    /// Adds `constant`, then goes to `target` if bits `shift` to `shift + 7` of `dst` are zero.
    Cbranch {
        dst: u8,
        constant: i32,
        shift: u8,
        target: u16,
    },
    /// Rotates `src` right by `count`; the two low bits become `fprc` if no bit of `gate` is set.
    Cfround {
        src: u8,
        count: u8,
        gate: u8,
    },
    Istore {
        src: u8,
        address: Address,
    },
}

/// Decodes a whole program: one operation for each instruction.
pub fn decode(instructions: &[Instruction], version: Version) -> impl Iterator<Item = Operation> {
    let mut decoder = Decoder { version, modified: [0; 8] };
    instructions.iter().enumerate().map(move |(index, word)| decoder.decode(word, index as u16))
}

struct Decoder {
    version: Version,
    /// For each integer register, the instruction after the one that last modified it: where a
    /// branch on it goes (specification 5.4.2).
    modified: [u16; 8],
}

impl Decoder {
    fn decode(&mut self, word: &Instruction, index: u16) -> Operation {
        let (dst, src) = (word.dst & 7, word.src & 7);
        let same = dst == src;
        let constant = word.imm32 as i32;
        let operation = match word.opcode() {
            Opcode::IaddRs => {
                let constant = if dst == DISPLACED_REGISTER { constant } else { 0 };
                Operation::IaddRs { dst, src, shift: word.mod_shift(), constant }
            }
            Opcode::IaddM => Operation::IaddM { dst, address: integer_source(word) },
            Opcode::IsubR if same => Operation::IsubC { dst, constant },
            Opcode::IsubR => Operation::IsubR { dst, src },
            Opcode::IsubM => Operation::IsubM { dst, address: integer_source(word) },
            Opcode::ImulR if same => Operation::ImulC { dst, constant: constant as u64 },
            Opcode::ImulR => Operation::ImulR { dst, src },
            Opcode::ImulM => Operation::ImulM { dst, address: integer_source(word) },
            Opcode::ImulhR => Operation::ImulhR { dst, src },
            Opcode::ImulhM => Operation::ImulhM { dst, address: integer_source(word) },
            Opcode::IsmulhR => Operation::IsmulhR { dst, src },
            Opcode::IsmulhM => Operation::IsmulhM { dst, address: integer_source(word) },
            Opcode::ImulRcp => match reciprocal(word.imm32) {
                Some(constant) => Operation::ImulC { dst, constant },
                None => return Operation::Nop,
            },
            Opcode::InegR => Operation::InegR { dst },
            Opcode::IxorR if same => Operation::IxorC { dst, constant },
            Opcode::IxorR => Operation::IxorR { dst, src },
            Opcode::IxorM => Operation::IxorM { dst, address: integer_source(word) },
            Opcode::IrorR if same => Operation::IrorC { dst, count: (word.imm32 & 63) as u8 },
            Opcode::IrorR => Operation::IrorR { dst, src },
            Opcode::IrolR if same => {
                Operation::IrorC { dst, count: (word.imm32.wrapping_neg() & 63) as u8 }
            }
            Opcode::IrolR => Operation::IrolR { dst, src },
            Opcode::IswapR if same => return Operation::Nop,
            Opcode::IswapR => {
                self.modified[usize::from(src)] = index + 1;
                Operation::IswapR { dst, src }
            }
            Opcode::Cbranch => return self.branch(word, index),
            _ => return float_or_store(word, self.version),
        };
        self.modified[usize::from(dst)] = index + 1;
        operation
    }

    fn branch(&mut self, word: &Instruction, index: u16) -> Operation {
        let dst = word.dst & 7;
        let shift = u32::from(word.mod_cond()) + JUMP_OFFSET;
        let constant = (word.imm32 | 1 << shift) & !(1 << (shift - 1));
        let target = self.modified[usize::from(dst)];
        self.modified = [index + 1; 8];
        Operation::Cbranch { dst, constant: constant as i32, shift: shift as u8, target }
    }
}

/// The operations that modify no integer register.
fn float_or_store(word: &Instruction, version: Version) -> Operation {
    // Groups F, E and A have four registers each.
    let (dst, src) = (word.dst & 3, word.src & 3);
    match word.opcode() {
        Opcode::FswapR if word.dst & 4 == 0 => Operation::FswapF { dst },
        Opcode::FswapR => Operation::FswapE { dst },
        Opcode::FaddR => Operation::FaddR { dst, src },
        Opcode::FaddM => Operation::FaddM { dst, address: float_source(word) },
        Opcode::FsubR => Operation::FsubR { dst, src },
        Opcode::FsubM => Operation::FsubM { dst, address: float_source(word) },
        Opcode::FscalR => Operation::FscalR { dst },
        Opcode::FmulR => Operation::FmulR { dst, src },
        Opcode::FdivM => Operation::FdivM { dst, address: float_source(word) },
        Opcode::FsqrtR => Operation::FsqrtR { dst },
        Opcode::Cfround => {
            let gate = match version {
                Version::V1 => 0,
                Version::V2 => 0b11_1100,
            };
            Operation::Cfround { src: word.src & 7, count: (word.imm32 & 63) as u8, gate }
        }
        Opcode::Istore => {
            let mask = if word.mod_cond() >= 14 { L3_MASK } else { level(word) };
            let address = Address { register: word.dst & 7, offset: word.imm32, mask };
            Operation::Istore { src: word.src & 7, address }
        }
        _ => Operation::Nop,
    }
}

/// The source of an integer operation: in L3, at a constant address, where `dst` is `src`.
fn integer_source(word: &Instruction) -> Address {
    if word.dst & 7 == word.src & 7 {
        Address { register: ZERO_REGISTER, offset: word.imm32, mask: L3_MASK }
    } else {
        float_source(word)
    }
}

fn float_source(word: &Instruction) -> Address {
    Address { register: word.src & 7, offset: word.imm32, mask: level(word) }
}

fn level(word: &Instruction) -> u32 {
    if word.mod_mem() == 0 { L2_MASK } else { L1_MASK }
}
