//! Decodes instructions, once per program, to operations with resolved operands, masks and branch
//! targets (specification 5.2 to 5.5).

use super::{Instruction, Opcode};
use crate::params::{JUMP_OFFSET, Version};
use crate::reciprocal::reciprocal;
use crate::scratchpad::{L1_MASK, L2_MASK, L3_MASK};

/// The index of a register that is always zero: the base of constant addresses.
pub const ZERO_REGISTER: u8 = 8;

/// Stands for an integer register where an instruction modifies none.
pub const NO_REGISTER: u8 = 8;

/// The bits that FSCAL_R flips: the sign and low exponent bits (specification 5.3.4).
pub const SCALE_BITS: u64 = 0x80f0_0000_0000_0000;

/// IADD_RS adds its immediate only to this register.
const DISPLACED_REGISTER: u8 = 5;

/// A scratchpad address: a register plus an offset, masked to a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// An integer register, or [`ZERO_REGISTER`].
    pub register: u8,
    /// `imm32`. The masks clear its sign extension.
    pub offset: u32,
    /// One of the masks of Table 4.2.1.
    pub mask: u32,
}

/// A decoded operation. The suffix names the source operand: `R` a register, `C` a constant, `M`
/// the scratchpad. Register indices are in range for their group.
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
    /// Adds `constant`, then jumps to `target` if bits `shift` to `shift + 7` of `dst` are zero.
    Cbranch {
        dst: u8,
        constant: i32,
        shift: u8,
        target: u16,
    },
    /// Rotates `src` right by `count`. The two low bits become `fprc` if no bit of `gate` is set.
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

/// Receives the operations of a program, one by one.
pub trait Sink {
    /// Receives the next operation. Where this is inlined, its kind is a constant, so that a
    /// `match` on it costs nothing.
    fn operation(&mut self, operation: Operation);
}

/// Decodes a whole program. `sink` receives one operation for each instruction.
#[inline(always)]
pub fn decode<S>(instructions: &[Instruction], version: Version, sink: &mut S)
where
    S: Sink + ?Sized,
{
    decode_some(instructions, version, sink, |_, _| None);
}

/// Decodes those instructions of a program that `handle` does not handle itself. `handle` returns the integer register
/// that the instruction modifies, or [`NO_REGISTER`] or a larger number if it modifies none. It returns `None` if the
/// instruction has to be decoded.
#[inline(always)]
pub fn decode_some<S>(
    instructions: &[Instruction],
    version: Version,
    sink: &mut S,
    mut handle: impl FnMut(&mut S, &Instruction) -> Option<u8>,
) where
    S: Sink + ?Sized,
{
    let mut decoder = Decoder { version, modified: [0; 9], index: 0, sink };
    for (index, word) in instructions.iter().enumerate() {
        decoder.index = index as u16;
        match handle(decoder.sink, word) {
            Some(register) => decoder.modify(register),
            // Of the instructions that templates do not handle, CBRANCH is the most frequent one.
            None if word.opcode() == Opcode::Cbranch => decoder.branch(word),
            None => decoder.decode(word),
        }
    }
}

/// Decodes a whole program as [`decode`] does, with one copy of the code for all sinks. It keeps
/// the download small and costs an indirect call for each operation.
#[inline(never)]
pub fn decode_dyn(instructions: &[Instruction], version: Version, sink: &mut dyn Sink) {
    decode(instructions, version, sink);
}

struct Decoder<'a, S: ?Sized> {
    version: Version,
    /// For each integer register, the target of a branch on it: the instruction after the one that
    /// last modified it (specification 5.4.2). The last entry is that of [`NO_REGISTER`].
    modified: [u16; 9],
    index: u16,
    sink: &'a mut S,
}

impl<S: Sink + ?Sized> Decoder<'_, S> {
    #[inline(always)]
    fn decode(&mut self, word: &Instruction) {
        use Operation::*;
        let (dst, src) = (word.dst & 7, word.src & 7);
        // Groups F, E and A have four registers each.
        let (float_dst, float_src) = (word.dst & 3, word.src & 3);
        let same = dst == src;
        let constant = word.imm32 as i32;
        let count = (word.imm32 & 63) as u8;
        match word.opcode() {
            Opcode::IaddRs => {
                let constant = if dst == DISPLACED_REGISTER { constant } else { 0 };
                self.write(dst, IaddRs { dst, src, shift: word.mod_shift(), constant });
            }
            Opcode::IaddM => self.write(dst, IaddM { dst, address: integer_source(word) }),
            Opcode::IsubR if same => self.write(dst, IsubC { dst, constant }),
            Opcode::IsubR => self.write(dst, IsubR { dst, src }),
            Opcode::IsubM => self.write(dst, IsubM { dst, address: integer_source(word) }),
            Opcode::ImulR if same => self.write(dst, ImulC { dst, constant: constant as u64 }),
            Opcode::ImulR => self.write(dst, ImulR { dst, src }),
            Opcode::ImulM => self.write(dst, ImulM { dst, address: integer_source(word) }),
            Opcode::ImulhR => self.write(dst, ImulhR { dst, src }),
            Opcode::ImulhM => self.write(dst, ImulhM { dst, address: integer_source(word) }),
            Opcode::IsmulhR => self.write(dst, IsmulhR { dst, src }),
            Opcode::IsmulhM => self.write(dst, IsmulhM { dst, address: integer_source(word) }),
            Opcode::ImulRcp => match reciprocal(word.imm32) {
                Some(constant) => self.write(dst, ImulC { dst, constant }),
                None => self.sink.operation(Nop),
            },
            Opcode::InegR => self.write(dst, InegR { dst }),
            Opcode::IxorR if same => self.write(dst, IxorC { dst, constant }),
            Opcode::IxorR => self.write(dst, IxorR { dst, src }),
            Opcode::IxorM => self.write(dst, IxorM { dst, address: integer_source(word) }),
            Opcode::IrorR if same => self.write(dst, IrorC { dst, count }),
            Opcode::IrorR => self.write(dst, IrorR { dst, src }),
            Opcode::IrolR if same => {
                self.write(dst, IrorC { dst, count: count.wrapping_neg() & 63 });
            }
            Opcode::IrolR => self.write(dst, IrolR { dst, src }),
            Opcode::IswapR if same => self.sink.operation(Nop),
            Opcode::IswapR => {
                self.modify(src);
                self.write(dst, IswapR { dst, src });
            }
            Opcode::FswapR if word.dst & 4 == 0 => self.sink.operation(FswapF { dst: float_dst }),
            Opcode::FswapR => self.sink.operation(FswapE { dst: float_dst }),
            Opcode::FaddR => self.sink.operation(FaddR { dst: float_dst, src: float_src }),
            Opcode::FaddM => {
                self.sink.operation(FaddM { dst: float_dst, address: float_source(word) });
            }
            Opcode::FsubR => self.sink.operation(FsubR { dst: float_dst, src: float_src }),
            Opcode::FsubM => {
                self.sink.operation(FsubM { dst: float_dst, address: float_source(word) });
            }
            Opcode::FscalR => self.sink.operation(FscalR { dst: float_dst }),
            Opcode::FmulR => self.sink.operation(FmulR { dst: float_dst, src: float_src }),
            Opcode::FdivM => {
                self.sink.operation(FdivM { dst: float_dst, address: float_source(word) });
            }
            Opcode::FsqrtR => self.sink.operation(FsqrtR { dst: float_dst }),
            Opcode::Cbranch => self.branch(word),
            Opcode::Cfround => {
                let gate = match self.version {
                    Version::V1 => 0,
                    Version::V2 => 0b11_1100,
                };
                self.sink.operation(Cfround { src, count, gate });
            }
            Opcode::Istore => {
                let mask = if word.mod_cond() >= 14 { L3_MASK } else { level(word) };
                let address = Address { register: dst, offset: word.imm32, mask };
                self.sink.operation(Istore { src, address });
            }
        }
    }

    /// Emits an operation that modifies the integer register `dst`.
    #[inline(always)]
    fn write(&mut self, dst: u8, operation: Operation) {
        self.modify(dst);
        self.sink.operation(operation);
    }

    /// Records that the present instruction modifies a register. [`NO_REGISTER`] and larger numbers stand for none.
    #[inline(always)]
    fn modify(&mut self, register: u8) {
        self.modified[usize::from(register.min(NO_REGISTER))] = self.index + 1;
    }

    #[inline(always)]
    fn branch(&mut self, word: &Instruction) {
        let dst = word.dst & 7;
        let shift = u32::from(word.mod_cond()) + JUMP_OFFSET;
        let constant = (word.imm32 | 1 << shift) & !(1 << (shift - 1));
        let target = self.modified[usize::from(dst)];
        self.modified = [self.index + 1; 9];
        let (constant, shift) = (constant as i32, shift as u8);
        self.sink.operation(Operation::Cbranch { dst, constant, shift, target });
    }
}

/// Returns the source of an integer operation, which is at a constant address in L3 if `dst` is
/// `src`.
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

#[cfg(test)]
mod tests;
