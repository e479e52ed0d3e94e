//! Lowers decoded operations to the few kinds of step that the interpreter dispatches on.
//!
//! An interpreter's largest cost is the mispredicted dispatch to the next operation. Operations
//! that differ by a sign, a constant or the place of an operand therefore become one kind, and the
//! difference becomes data.

use crate::program::{Address, Operation, SCALE_BITS, Sink, ZERO_REGISTER};

/// The bit that marks kinds for floating point registers.
const FLOAT: u16 = 1 << 15;

/// The kind of a step. `s` is its source: a register, the zero register, or the scratchpad.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub(super) enum Kind {
    /// `r[dst] = (r[dst] ^ flip_dst) + ((s << shift) ^ flip_src) + constant`
    Add = 1 << 0,
    /// `r[dst] *= s | constant`
    Mul = 1 << 1,
    /// `r[dst]` becomes the high half of `r[dst] * s`, signed where `flip_src` is set
    MulHigh = 1 << 2,
    /// `r[dst] ^= s ^ constant`
    Xor = 1 << 3,
    /// `r[dst]` is rotated right by `(s ^ flip_src) + constant`
    Rotate = 1 << 4,
    /// `r[dst]` and `r[src]` are exchanged
    Swap = 1 << 5,
    /// Writes `r[src]` to the scratchpad
    Store = 1 << 6,
    /// Adds `constant` to `r[dst]`, then jumps to `target` if 8 bits from `shift` on are zero
    Branch = 1 << 7,
    /// Rotates `r[src]` right by `shift`; the two low bits become `fprc` if the result and
    /// `constant` have no bit in common
    Round = 1 << 8,
    /// `x[dst] += s`, with the sign of `s` flipped by `flip_src`
    FloatAdd = FLOAT | 1 << 0,
    /// `x[dst] *= a[src]`
    FloatMul = FLOAT | 1 << 1,
    /// `x[dst] /= s`, with `s` converted to group E
    FloatDiv = FLOAT | 1 << 2,
    /// Takes the square root of `x[dst]`
    FloatSqrt = FLOAT | 1 << 3,
    /// Flips the bits of `constant` in `x[dst]`
    FloatScale = FLOAT | 1 << 4,
    /// Exchanges the halves of `x[dst]`
    FloatSwap = FLOAT | 1 << 5,
}

/// A step. The floating point registers are `x`: `x[0..4]` are group F and `x[4..8]` group E.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) kind: Kind,
    pub(super) dst: u8,
    pub(super) src: u8,
    pub(super) shift: u8,
    /// All ones or zero.
    pub(super) flip_src: i8,
    /// All ones or zero.
    pub(super) flip_dst: i8,
    /// All ones if `s` comes from the scratchpad, else zero.
    pub(super) from_memory: i8,
    pub(super) target: u16,
    pub(super) address: Address,
    pub(super) constant: u64,
}

/// The first word of the scratchpad, which steps without a memory operand read for nothing.
const NOWHERE: Address = Address { register: ZERO_REGISTER, offset: 0, mask: 0 };

impl Step {
    /// Returns whether the step's kind is `kind`, among the kinds for the same registers.
    ///
    /// It tests a bit, because the compiler would turn comparisons into a jump table with one
    /// indirect jump per step. Processors predict the conditional jumps of a long program better;
    /// `docs/performance.md` has the measurements.
    #[inline(always)]
    pub(super) fn is(&self, kind: Kind) -> bool {
        self.kind as u16 & kind as u16 & !FLOAT != 0
    }

    /// Returns whether the step works on floating point registers.
    #[inline(always)]
    pub(super) fn is_float(&self) -> bool {
        self.kind as u16 & FLOAT != 0
    }

    fn new(kind: Kind, dst: u8, src: u8) -> Step {
        Step {
            kind,
            dst,
            src,
            shift: 0,
            flip_src: 0,
            flip_dst: 0,
            from_memory: 0,
            target: 0,
            address: NOWHERE,
            constant: 0,
        }
    }

    fn constant(kind: Kind, dst: u8, constant: u64) -> Step {
        Step { constant, ..Step::new(kind, dst, ZERO_REGISTER) }
    }

    fn memory(kind: Kind, dst: u8, address: Address) -> Step {
        Step { address, from_memory: -1, ..Step::new(kind, dst, ZERO_REGISTER) }
    }

    /// Negates the source of a sum, together with a constant of 1; elsewhere complements it.
    fn flipped(self) -> Step {
        Step { flip_src: -1, ..self }
    }
}

/// The index of the first register of group E.
const E: u8 = 4;

impl Sink for Vec<Step> {
    fn operation(&mut self, operation: Operation) {
        self.push(Step::from(operation));
    }
}

impl From<Operation> for Step {
    fn from(operation: Operation) -> Step {
        match operation {
            Operation::Nop => Step::constant(Kind::Add, 0, 0),
            Operation::IaddRs { dst, src, shift, constant } => {
                Step { shift, constant: constant as u64, ..Step::new(Kind::Add, dst, src) }
            }
            Operation::IaddM { dst, address } => Step::memory(Kind::Add, dst, address),
            // -s is !s + 1.
            Operation::IsubR { dst, src } => {
                Step { constant: 1, ..Step::new(Kind::Add, dst, src).flipped() }
            }
            Operation::IsubC { dst, constant } => {
                Step::constant(Kind::Add, dst, (constant as u64).wrapping_neg())
            }
            Operation::IsubM { dst, address } => {
                Step { constant: 1, ..Step::memory(Kind::Add, dst, address).flipped() }
            }
            Operation::InegR { dst } => Step { flip_dst: -1, ..Step::constant(Kind::Add, dst, 1) },
            Operation::ImulR { dst, src } => Step::new(Kind::Mul, dst, src),
            Operation::ImulC { dst, constant } => Step::constant(Kind::Mul, dst, constant),
            Operation::ImulM { dst, address } => Step::memory(Kind::Mul, dst, address),
            Operation::ImulhR { dst, src } => Step::new(Kind::MulHigh, dst, src),
            Operation::ImulhM { dst, address } => Step::memory(Kind::MulHigh, dst, address),
            Operation::IsmulhR { dst, src } => Step::new(Kind::MulHigh, dst, src).flipped(),
            Operation::IsmulhM { dst, address } => {
                Step::memory(Kind::MulHigh, dst, address).flipped()
            }
            Operation::IxorR { dst, src } => Step::new(Kind::Xor, dst, src),
            Operation::IxorC { dst, constant } => Step::constant(Kind::Xor, dst, constant as u64),
            Operation::IxorM { dst, address } => Step::memory(Kind::Xor, dst, address),
            Operation::IrorR { dst, src } => Step::new(Kind::Rotate, dst, src),
            Operation::IrorC { dst, count } => Step::constant(Kind::Rotate, dst, u64::from(count)),
            Operation::IrolR { dst, src } => {
                Step { constant: 1, ..Step::new(Kind::Rotate, dst, src).flipped() }
            }
            Operation::IswapR { dst, src } => Step::new(Kind::Swap, dst, src),
            Operation::FswapF { dst } => Step::new(Kind::FloatSwap, dst, 0),
            Operation::FswapE { dst } => Step::new(Kind::FloatSwap, dst + E, 0),
            Operation::FaddR { dst, src } => Step::new(Kind::FloatAdd, dst, src),
            Operation::FaddM { dst, address } => Step::memory(Kind::FloatAdd, dst, address),
            Operation::FsubR { dst, src } => Step::new(Kind::FloatAdd, dst, src).flipped(),
            Operation::FsubM { dst, address } => {
                Step::memory(Kind::FloatAdd, dst, address).flipped()
            }
            Operation::FscalR { dst } => Step::constant(Kind::FloatScale, dst, SCALE_BITS),
            Operation::FmulR { dst, src } => Step::new(Kind::FloatMul, dst + E, src),
            Operation::FdivM { dst, address } => Step::memory(Kind::FloatDiv, dst + E, address),
            Operation::FsqrtR { dst } => Step::new(Kind::FloatSqrt, dst + E, 0),
            Operation::Cbranch { dst, constant, shift, target } => {
                Step { shift, target, ..Step::constant(Kind::Branch, dst, constant as u64) }
            }
            Operation::Cfround { src, count, gate } => {
                Step { shift: count, constant: u64::from(gate), ..Step::new(Kind::Round, 0, src) }
            }
            Operation::Istore { src, address } => {
                Step { address, ..Step::new(Kind::Store, 0, src) }
            }
        }
    }
}
