//! NEON instructions, on pairs of doubles unless they say otherwise.

use super::Assembler;
use super::operand::{Gpr, Neon};

/// Defines methods `name(d, n, m)` from opcodes.
macro_rules! three_registers {
    ($($(#[$doc:meta])* $name:ident = $opcode:literal;)*) => {
        $(
            $(#[$doc])*
            #[inline(always)]
            pub fn $name(&mut self, d: Neon, n: Neon, m: Neon) {
                self.put($opcode | m.m() | n.n() | d.d());
            }
        )*
    };
}

/// Defines methods `name(d, n)` from opcodes.
macro_rules! two_registers {
    ($($(#[$doc:meta])* $name:ident = $opcode:literal;)*) => {
        $(
            $(#[$doc])*
            #[inline(always)]
            pub fn $name(&mut self, d: Neon, n: Neon) {
                self.put($opcode | n.n() | d.d());
            }
        )*
    };
}

impl Assembler {
    three_registers! {
        /// `fadd d.2d, n.2d, m.2d`
        fadd = 0x4e60_d400;
        /// `fsub d.2d, n.2d, m.2d`
        fsub = 0x4ee0_d400;
        /// `fmul d.2d, n.2d, m.2d`
        fmul = 0x6e60_dc00;
        /// `fdiv d.2d, n.2d, m.2d`
        fdiv = 0x6e60_fc00;
        /// `eor d.16b, n.16b, m.16b`
        eor_v = 0x6e20_1c00;
        /// `bif d.16b, n.16b, m.16b`: takes the bits of `n` where `m` has none.
        bif = 0x6ee0_1c00;
    }

    two_registers! {
        /// `fsqrt d.2d, n.2d`
        fsqrt = 0x6ee1_f800;
        /// `scvtf d.2d, n.2d`: converts signed integers.
        scvtf = 0x4e61_d800;
        /// `sxtl d.2d, n.2s`: extends the lower two signed integers.
        sxtl = 0x0f20_a400;
        /// `sxtl2 d.2d, n.4s`: extends the upper two signed integers.
        sxtl2 = 0x4f20_a400;
        /// `aese d.16b, n.16b`: XOR with the key `n`, then ShiftRows and SubBytes.
        aese = 0x4e28_4800;
        /// `aesd d.16b, n.16b`: XOR with the key `n`, then their inverses.
        aesd = 0x4e28_5800;
        /// `aesmc d.16b, n.16b`: MixColumns.
        aesmc = 0x4e28_6800;
        /// `aesimc d.16b, n.16b`: its inverse.
        aesimc = 0x4e28_7800;
    }

    /// `ext d.16b, n.16b, n.16b, #8`: exchanges the halves.
    #[inline(always)]
    pub fn swap_halves(&mut self, d: Neon, n: Neon) {
        self.put(0x6e00_4000 | n.m() | n.n() | d.d());
    }

    /// `movi d.2d, #0`
    pub fn clear(&mut self, d: Neon) {
        self.put(0x6f00_e400 | d.d());
    }

    /// `dup d.2d, n`: copies a register to both halves.
    pub fn dup(&mut self, d: Neon, n: Gpr) {
        self.put(0x4e08_0c00 | n.n() | d.d());
    }
}
