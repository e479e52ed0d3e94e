//! Floating point and AES in SSE encodings. They read and write the
//! lower 128 bits of registers 0 to 15, and leave the upper bits alone.

use super::encoding::{Immediate, Map, Opcode, Prefix};
use super::{Assembler, Mem, Operand, VectorSource, Xmm};

macro_rules! packed {
    ($($name:ident $prefix:ident $map:ident $code:literal;)*) => {
        /// Instructions on two registers, or a register and 16 aligned bytes of memory.
        impl Assembler {$(
            #[doc = concat!("`", stringify!($name), " xmm, xmm | m128`")]
            #[inline(always)]
            pub fn $name(&mut self, dst: Xmm, src: impl VectorSource<Xmm>) {
                let opcode = Opcode::new(Prefix::$prefix, Map::$map, $code);
                self.legacy(opcode, dst.0, src.rm(), Immediate::NONE);
            }
        )*}
    };
}

packed! {
    addpd P66 Of 0x58;
    mulpd P66 Of 0x59;
    subpd P66 Of 0x5c;
    divpd P66 Of 0x5e;
    sqrtpd P66 Of 0x51;
    andps None Of 0x54;
    orps None Of 0x56;
    xorps None Of 0x57;
    movaps None Of 0x28;
    aesenc P66 Of38 0xdc;
    aesdec P66 Of38 0xde;
}

/// Conversions, shuffles, stores and the control register.
impl Assembler {
    /// `cvtdq2pd xmm, xmm | m64`: two 32-bit integers.
    #[inline(always)]
    pub fn cvtdq2pd(&mut self, dst: Xmm, src: impl VectorSource<Xmm>) {
        let opcode = Opcode::new(Prefix::F3, Map::Of, 0xe6);
        self.legacy(opcode, dst.0, src.rm(), Immediate::NONE);
    }

    /// `shufpd xmm, xmm | m128, imm8`
    #[inline(always)]
    pub fn shufpd(&mut self, dst: Xmm, src: impl VectorSource<Xmm>, control: u8) {
        let opcode = Opcode::new(Prefix::P66, Map::Of, 0xc6);
        self.legacy(opcode, dst.0, src.rm(), Immediate::byte(control));
    }

    /// `movaps m128, xmm`
    #[inline(always)]
    pub fn store_movaps(&mut self, dst: Mem, src: Xmm) {
        let opcode = Opcode::new(Prefix::None, Map::Of, 0x29);
        self.legacy(opcode, src.0, dst.rm(), Immediate::NONE);
    }

    /// `ldmxcsr m32`
    #[inline(always)]
    pub fn ldmxcsr(&mut self, src: Mem) {
        self.legacy(Opcode::new(Prefix::None, Map::Of, 0xae), 2, src.rm(), Immediate::NONE);
    }

    /// `stmxcsr m32`
    #[inline(always)]
    pub fn stmxcsr(&mut self, dst: Mem) {
        self.legacy(Opcode::new(Prefix::None, Map::Of, 0xae), 3, dst.rm(), Immediate::NONE);
    }
}
