//! Instructions on general purpose registers. Methods whose name ends in 32 write the lower half of
//! a register and clear the upper half; the others work on 64 bits.

use super::encoding::{Bytes, Immediate, Map, Opcode, Prefix};
use super::{Assembler, Gpr, IntegerSource, Mem, Operand, Rm, Source};

macro_rules! arithmetic {
    ($($name:ident $name32:ident $digit:literal;)*) => {
        /// Arithmetic with a register, memory or a sign-extended constant.
        impl Assembler {$(
            #[doc = concat!("`", stringify!($name), " r64, r64 | m64 | imm`")]
            #[inline(always)]
            pub fn $name(&mut self, dst: Gpr, src: impl Into<Source>) {
                self.arithmetic(true, $digit, dst, src.into());
            }

            #[doc = concat!("`", stringify!($name), " r32, r32 | m32 | imm`")]
            #[inline(always)]
            pub fn $name32(&mut self, dst: Gpr, src: impl Into<Source>) {
                self.arithmetic(false, $digit, dst, src.into());
            }
        )*}
    };
}

arithmetic! {
    add add32 0;
    or or32 1;
    and and32 4;
    sub sub32 5;
    xor xor32 6;
    cmp cmp32 7;
}

macro_rules! single {
    ($($name:ident $code:literal $digit:literal;)*) => {
        /// Instructions with one operand.
        impl Assembler {$(
            #[doc = concat!("`", stringify!($name), " r64 | m64`")]
            #[inline(always)]
            pub fn $name(&mut self, operand: impl IntegerSource) {
                self.legacy(Opcode::wide($code), $digit, operand.rm(), Immediate::NONE);
            }
        )*}
    };
}

single! {
    neg 0xf7 3;
    mul 0xf7 4;
    imul_wide 0xf7 5;
    dec 0xff 1;
}

macro_rules! shift {
    ($($name:ident $name_cl:ident $digit:literal;)*) => {
        /// Shifts and rotations.
        impl Assembler {$(
            #[doc = concat!("`", stringify!($name), " r64, imm8`")]
            #[inline(always)]
            pub fn $name(&mut self, dst: Gpr, count: u8) {
                self.legacy(Opcode::wide(0xc1), $digit, dst.rm(), Immediate::byte(count));
            }

            #[doc = concat!("`", stringify!($name), " r64, cl`")]
            #[inline(always)]
            pub fn $name_cl(&mut self, dst: Gpr) {
                self.legacy(Opcode::wide(0xd3), $digit, dst.rm(), Immediate::NONE);
            }
        )*}
    };
}

shift! {
    rol rol_cl 0;
    ror ror_cl 1;
    shl shl_cl 4;
    shr shr_cl 5;
}

/// Moves, products, addresses, the stack and memory hints.
impl Assembler {
    /// `mov r64, r64 | m64`
    #[inline(always)]
    pub fn mov(&mut self, dst: Gpr, src: impl IntegerSource) {
        self.legacy(Opcode::wide(0x8b), dst as u8, src.rm(), Immediate::NONE);
    }

    /// `mov r32, r32 | m32`
    #[inline(always)]
    pub fn mov32(&mut self, dst: Gpr, src: impl IntegerSource) {
        self.legacy(Opcode::narrow(0x8b), dst as u8, src.rm(), Immediate::NONE);
    }

    /// `mov m64, r64`
    #[inline(always)]
    pub fn store(&mut self, dst: Mem, src: Gpr) {
        self.legacy(Opcode::wide(0x89), src as u8, dst.rm(), Immediate::NONE);
    }

    /// `mov m32, r32`
    #[inline(always)]
    pub fn store32(&mut self, dst: Mem, src: Gpr) {
        self.legacy(Opcode::narrow(0x89), src as u8, dst.rm(), Immediate::NONE);
    }

    /// `mov r64, imm64`
    #[inline(always)]
    pub fn mov_immediate(&mut self, dst: Gpr, value: u64) {
        let dst = dst as u64;
        self.put(Bytes::new(0x48 | dst >> 3 | (0xb8 | dst & 7) << 8, 2), value, 8);
    }

    /// `imul r64, r64 | m64`
    #[inline(always)]
    pub fn imul(&mut self, dst: Gpr, src: impl IntegerSource) {
        let opcode = Opcode { wide: true, ..Opcode::new(Prefix::None, Map::Of, 0xaf) };
        self.legacy(opcode, dst as u8, src.rm(), Immediate::NONE);
    }

    /// `imul r64, r64 | m64, imm32`
    #[inline(always)]
    pub fn imul_immediate(&mut self, dst: Gpr, src: impl IntegerSource, value: i32) {
        self.legacy(Opcode::wide(0x69), dst as u8, src.rm(), Immediate::long(value));
    }

    /// `mulx high, low, r64 | m64` (BMI2): the other factor is `rdx`. `high` is written last.
    #[inline(always)]
    pub fn mulx(&mut self, high: Gpr, low: Gpr, src: impl IntegerSource) {
        let opcode = Opcode { wide: true, ..Opcode::new(Prefix::F2, Map::Of38, 0xf6) };
        self.vex(opcode, 0, high as u8, low as u8, src.rm(), Immediate::NONE);
    }

    /// `rorx r64, r64 | m64, imm8` (BMI2)
    #[inline(always)]
    pub fn rorx(&mut self, dst: Gpr, src: impl IntegerSource, count: u8) {
        let opcode = Opcode { wide: true, ..Opcode::new(Prefix::F2, Map::Of3a, 0xf0) };
        self.vex(opcode, 0, dst as u8, 0, src.rm(), Immediate::byte(count));
    }

    /// `lea r64, m`
    #[inline(always)]
    pub fn lea(&mut self, dst: Gpr, address: Mem) {
        self.legacy(Opcode::wide(0x8d), dst as u8, address.rm(), Immediate::NONE);
    }

    /// `lea r32, m`
    #[inline(always)]
    pub fn lea32(&mut self, dst: Gpr, address: Mem) {
        self.legacy(Opcode::narrow(0x8d), dst as u8, address.rm(), Immediate::NONE);
    }

    /// `test r64, imm32`, sign-extended
    #[inline(always)]
    pub fn test_immediate(&mut self, operand: Gpr, value: i32) {
        self.legacy(Opcode::wide(0xf7), 0, operand.rm(), Immediate::long(value));
    }

    /// `test r32, imm32`
    #[inline(always)]
    pub fn test_immediate32(&mut self, operand: Gpr, value: u32) {
        self.legacy(Opcode::narrow(0xf7), 0, operand.rm(), Immediate::long(value as i32));
    }

    /// `test r64, r64`
    #[inline(always)]
    pub fn test(&mut self, a: Gpr, b: Gpr) {
        self.legacy(Opcode::wide(0x85), b as u8, a.rm(), Immediate::NONE);
    }

    /// `xchg r64, r64`
    #[inline(always)]
    pub fn xchg(&mut self, a: Gpr, b: Gpr) {
        self.legacy(Opcode::wide(0x87), b as u8, a.rm(), Immediate::NONE);
    }

    /// `push r64`
    #[inline(always)]
    pub fn push(&mut self, register: Gpr) {
        self.stack(0x50, register as u64);
    }

    /// `pop r64`
    #[inline(always)]
    pub fn pop(&mut self, register: Gpr) {
        self.stack(0x58, register as u64);
    }

    /// `prefetchnta m`: into the first level of cache only.
    #[inline(always)]
    pub fn prefetchnta(&mut self, address: Mem) {
        self.prefetch(0, address);
    }

    /// `prefetcht0 m`: into all levels of cache.
    #[inline(always)]
    pub fn prefetcht0(&mut self, address: Mem) {
        self.prefetch(1, address);
    }

    /// `prefetchw m`: into the first level of cache, to be written.
    #[inline(always)]
    pub fn prefetchw(&mut self, address: Mem) {
        let opcode = Opcode::new(Prefix::None, Map::Of, 0x0d);
        self.legacy(opcode, 1, address.rm(), Immediate::NONE);
    }

    #[inline(always)]
    fn prefetch(&mut self, hint: u8, address: Mem) {
        let opcode = Opcode::new(Prefix::None, Map::Of, 0x18);
        self.legacy(opcode, hint, address.rm(), Immediate::NONE);
    }

    #[inline(always)]
    fn stack(&mut self, code: u64, register: u64) {
        let head = match register >> 3 {
            0 => Bytes::new(code | register, 1),
            _ => Bytes::new(0x41 | (code | register & 7) << 8, 2),
        };
        self.put(head, 0, 0);
    }

    #[inline(always)]
    fn arithmetic(&mut self, wide: bool, digit: u8, dst: Gpr, src: Source) {
        let opcode = |code| if wide { Opcode::wide(code) } else { Opcode::narrow(code) };
        match src {
            Source::Rm(rm) => {
                self.legacy(opcode(digit << 3 | 3), dst as u8, rm, Immediate::NONE);
            }
            Source::Immediate(value) => match i8::try_from(value) {
                Ok(byte) => {
                    let immediate = Immediate::byte(byte as u8);
                    self.legacy(opcode(0x83), digit, Rm::Register(dst as u8), immediate);
                }
                Err(_) => {
                    let immediate = Immediate::long(value);
                    self.legacy(opcode(0x81), digit, Rm::Register(dst as u8), immediate);
                }
            },
        }
    }
}
