//! Operands of instructions: registers and memory.

use super::Label;

/// A general purpose register, by its 64-bit name. Instructions on 32 bits use its lower half.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Gpr {
    Rax = 0,
    Rcx = 1,
    Rdx = 2,
    Rbx = 3,
    Rsp = 4,
    Rbp = 5,
    Rsi = 6,
    Rdi = 7,
    R8 = 8,
    R9 = 9,
    R10 = 10,
    R11 = 11,
    R12 = 12,
    R13 = 13,
    R14 = 14,
    R15 = 15,
}

/// A vector register of some width.
pub trait Vector: VectorSource<Self> {
    /// The width as encoded in instructions: 0 for 128 bits, 1 for 256, 2 for 512.
    const WIDTH: u8;
    /// Returns the register `number`, 0 to 31. Numbers from 16 on need AVX-512.
    fn new(number: u8) -> Self;
    /// Returns the register's number.
    fn number(self) -> u8;
}

macro_rules! vector {
    ($name:ident $width:literal $doc:literal) => {
        #[doc = $doc]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name(pub u8);

        impl Vector for $name {
            const WIDTH: u8 = $width;

            #[inline(always)]
            fn new(number: u8) -> $name {
                $name(number)
            }

            #[inline(always)]
            fn number(self) -> u8 {
                self.0
            }
        }

        impl Operand for $name {
            #[inline(always)]
            fn rm(self) -> Rm {
                Rm::Register(self.0)
            }
        }

        impl VectorSource<$name> for $name {}
    };
}

vector!(Xmm 0 "A vector register of 128 bits, by its number.");
vector!(Ymm 1 "A vector register of 256 bits, by its number.");
vector!(Zmm 2 "A vector register of 512 bits, by its number.");

/// A mask register, 1 to 7.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mask(pub u8);

/// The factor of an index.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Scale {
    One = 0,
    Two = 1,
    Four = 2,
    Eight = 3,
}

/// A memory operand: `[base + index * scale + displacement]`, or relative to a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mem {
    pub(super) base: Base,
    pub(super) index: u8,
    pub(super) scale: Scale,
    pub(super) displacement: i32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Base {
    Register(u8),
    Label(Label),
}

/// The number that encodes the absence of an index.
pub(super) const NO_INDEX: u8 = Gpr::Rsp as u8;

impl Mem {
    /// `[base + displacement]`
    #[inline(always)]
    pub const fn new(base: Gpr, displacement: i32) -> Mem {
        let base = Base::Register(base as u8);
        Mem { base, index: NO_INDEX, scale: Scale::One, displacement }
    }

    /// `[base + index * scale + displacement]`. The index is any register but `rsp`.
    #[inline(always)]
    pub const fn indexed(base: Gpr, index: Gpr, scale: Scale, displacement: i32) -> Mem {
        debug_assert!(index as u8 != NO_INDEX, "rsp is no index");
        Mem { base: Base::Register(base as u8), index: index as u8, scale, displacement }
    }

    /// Returns the operand `bytes` further on.
    #[inline(always)]
    pub const fn plus(self, bytes: i32) -> Mem {
        Mem { displacement: self.displacement + bytes, ..self }
    }

    /// `[label + displacement]`, relative to the instruction pointer.
    #[inline(always)]
    pub const fn label(label: Label, displacement: i32) -> Mem {
        let base = Base::Label(label);
        Mem { base, index: NO_INDEX, scale: Scale::One, displacement }
    }
}

/// 8 bytes of memory that are used for each element of a vector (AVX-512).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Broadcast(pub Mem);

/// The operand of an instruction that may be a register or memory.
#[derive(Clone, Copy, Debug)]
pub enum Rm {
    /// The number of a register, general purpose or vector.
    Register(u8),
    /// A memory operand.
    Memory(Mem),
}

/// A register or a memory operand.
pub trait Operand: Copy {
    /// Returns the operand for the encoder.
    fn rm(self) -> Rm;
}

impl Operand for Gpr {
    #[inline(always)]
    fn rm(self) -> Rm {
        Rm::Register(self as u8)
    }
}

impl Operand for Mem {
    #[inline(always)]
    fn rm(self) -> Rm {
        Rm::Memory(self)
    }
}

impl Operand for Broadcast {
    #[inline(always)]
    fn rm(self) -> Rm {
        Rm::Memory(self.0)
    }
}

/// The last operand of an instruction on `V`: a register, memory, or a broadcast.
pub trait VectorSource<V>: Operand {
    /// Whether one element is read and used for all.
    const BROADCAST: bool = false;
}

impl<V: Vector> VectorSource<V> for Mem {}

impl<V: Vector> VectorSource<V> for Broadcast {
    const BROADCAST: bool = true;
}

/// A general purpose register or memory.
pub trait IntegerSource: Operand {}

impl IntegerSource for Gpr {}
impl IntegerSource for Mem {}

/// The second operand of arithmetic: a register, memory, or a sign-extended constant.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    /// A register or memory.
    Rm(Rm),
    /// A constant, sign-extended to the width of the operation.
    Immediate(i32),
}

impl From<Gpr> for Source {
    #[inline(always)]
    fn from(register: Gpr) -> Source {
        Source::Rm(register.rm())
    }
}

impl From<Mem> for Source {
    #[inline(always)]
    fn from(mem: Mem) -> Source {
        Source::Rm(mem.rm())
    }
}

impl From<i32> for Source {
    #[inline(always)]
    fn from(immediate: i32) -> Source {
        Source::Immediate(immediate)
    }
}

/// The condition of a jump.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Condition {
    Overflow = 0,
    NotOverflow = 1,
    Below = 2,
    AboveOrEqual = 3,
    Zero = 4,
    NotZero = 5,
    BelowOrEqual = 6,
    Above = 7,
    Sign = 8,
    NotSign = 9,
    Less = 12,
    GreaterOrEqual = 13,
    LessOrEqual = 14,
    Greater = 15,
}
