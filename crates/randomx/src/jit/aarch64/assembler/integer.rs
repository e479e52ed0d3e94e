//! Instructions on general purpose registers.

use super::Assembler;
use super::operand::{Gpr, Shift, logical_immediate};

/// Defines methods `name(d, n, m)` from opcodes.
macro_rules! three_registers {
    ($($(#[$doc:meta])* $name:ident = $opcode:literal;)*) => {
        $(
            $(#[$doc])*
            #[inline(always)]
            pub fn $name(&mut self, d: Gpr, n: Gpr, m: Gpr) {
                self.put($opcode | m.m() | n.n() | d.d());
            }
        )*
    };
}

/// Defines methods `name(d, n, m, shift)` from opcodes.
macro_rules! shifted {
    ($($(#[$doc:meta])* $name:ident = $opcode:literal;)*) => {
        $(
            $(#[$doc])*
            #[inline(always)]
            pub fn $name(&mut self, d: Gpr, n: Gpr, m: Gpr, shift: Shift) {
                self.put($opcode | shift.field() | m.m() | n.n() | d.d());
            }
        )*
    };
}

impl Assembler {
    three_registers! {
        /// `add d, n, m`
        add = 0x8b00_0000;
        /// `sub d, n, m`
        sub = 0xcb00_0000;
        /// `eor d, n, m`
        eor = 0xca00_0000;
        /// `eor d, n, m` on lower halves; clears the upper half.
        eor32 = 0x4a00_0000;
        /// `mul d, n, m`
        mul = 0x9b00_7c00;
        /// `umulh d, n, m`
        umulh = 0x9bc0_7c00;
        /// `smulh d, n, m`
        smulh = 0x9b40_7c00;
        /// `ror d, n, m`
        ror_by = 0x9ac0_2c00;
    }

    shifted! {
        /// `add d, n, m, shift`
        add_shifted = 0x8b00_0000;
        /// `eor d, n, m, shift`
        eor_shifted = 0xca00_0000;
    }

    /// `cmp n, m`
    pub fn cmp(&mut self, n: Gpr, m: Gpr) {
        self.put(0xeb00_0000 | m.m() | n.n() | Gpr::ZERO.d());
    }

    /// `mov d, m`
    #[inline(always)]
    pub fn mov(&mut self, d: Gpr, m: Gpr) {
        self.put(0xaa00_03e0 | m.m() | d.d());
    }

    /// `neg d, m`
    #[inline(always)]
    pub fn neg(&mut self, d: Gpr, m: Gpr) {
        self.sub(d, Gpr::ZERO, m);
    }

    /// `ror d, n, #count`
    #[inline(always)]
    pub fn ror(&mut self, d: Gpr, n: Gpr, count: u8) {
        self.put(0x93c0_0000 | n.m() | (u32::from(count) & 63) << 10 | n.n() | d.d());
    }

    /// `lsr d, n, #count`
    #[inline(always)]
    pub fn lsr(&mut self, d: Gpr, n: Gpr, count: u8) {
        self.put(0xd340_fc00 | (u32::from(count) & 63) << 16 | n.n() | d.d());
    }

    /// `ubfiz d, n, #place, #width`: moves the lowest `width` bits of `n` to `place`; clears the rest.
    #[inline(always)]
    pub fn ubfiz(&mut self, d: Gpr, n: Gpr, place: u8, width: u8) {
        let (rotation, last) = ((64 - u32::from(place)) & 63, u32::from(width - 1) & 63);
        self.put(0xd340_0000 | rotation << 16 | last << 10 | n.n() | d.d());
    }

    /// `rbit d, n`
    #[inline(always)]
    pub fn rbit(&mut self, d: Gpr, n: Gpr) {
        self.put(0xdac0_0000 | n.n() | d.d());
    }

    /// `and d, n, #mask`
    ///
    /// # Panics
    ///
    /// If no instruction has this mask.
    #[inline(always)]
    pub fn and_mask(&mut self, d: Gpr, n: Gpr, mask: u64) {
        self.put(0x9200_0000 | immediate(mask) | n.n() | d.d());
    }

    /// `and d, n, #mask` on lower halves; clears the upper half.
    ///
    /// # Panics
    ///
    /// If no instruction has this mask.
    #[inline(always)]
    pub fn and_mask32(&mut self, d: Gpr, n: Gpr, mask: u32) {
        let twice = u64::from(mask) << 32 | u64::from(mask);
        self.put(0x1200_0000 | immediate(twice) | n.n() | d.d());
    }

    /// `tst n, #mask`
    ///
    /// # Panics
    ///
    /// If no instruction has this mask.
    #[inline(always)]
    pub fn tst_mask(&mut self, n: Gpr, mask: u64) {
        self.put(0xf200_0000 | immediate(mask) | n.n() | Gpr::ZERO.d());
    }

    /// `eor d, n, value`. Larger values are loaded into `temporary`.
    pub fn eor_value(&mut self, d: Gpr, n: Gpr, value: u64, temporary: Gpr) {
        match logical_immediate(value) {
            Some(bits) => self.put(0xd200_0000 | bits | n.n() | d.d()),
            None if value == 0 && d == n => {}
            None => {
                self.mov_value(temporary, value);
                self.eor(d, n, temporary);
            }
        }
    }

    /// Adds a signed value to `n`. Larger values are loaded into `temporary`.
    pub fn add_value(&mut self, d: Gpr, n: Gpr, value: i64, temporary: Gpr) {
        let magnitude = value.unsigned_abs();
        if magnitude >> 24 != 0 {
            self.mov_value(temporary, value as u64);
            self.add(d, n, temporary);
            return;
        }
        let opcode = if value < 0 { 0xd100_0000 } else { 0x9100_0000 };
        self.add_parts(opcode, d, n, magnitude as u32);
    }

    /// Adds a signed value of at most 24 bits to the lower half of `n`; clears the upper half.
    pub fn add_value32(&mut self, d: Gpr, n: Gpr, value: i32) {
        let opcode = if value < 0 { 0x5100_0000 } else { 0x1100_0000 };
        self.add_parts(opcode, d, n, value.unsigned_abs());
    }

    /// `subs d, n, #1`
    pub fn decrement(&mut self, d: Gpr, n: Gpr) {
        self.put(0xf100_0000 | 1 << 10 | n.n() | d.d());
    }

    /// Loads a value, in as few instructions as `movz`, `movn`, `movk` and `orr` allow.
    pub fn mov_value(&mut self, d: Gpr, value: u64) {
        let halves = [0, 16, 32, 48].map(|shift| (value >> shift) as u16);
        let count = |half: u16| halves.iter().filter(|&&other| other == half).count();
        let inverted = count(u16::MAX) > count(0);
        let background = if inverted { u16::MAX } else { 0 };
        if 4 - count(background) > 1
            && let Some(bits) = logical_immediate(value)
        {
            return self.put(0xb200_0000 | bits | Gpr::ZERO.n() | d.d());
        }
        let mut opcode = if inverted { 0x9280_0000 } else { 0xd280_0000 };
        let mut flipped = background;
        for (index, half) in (0..).zip(halves) {
            if half != background {
                self.put(opcode | index << 21 | u32::from(half ^ flipped) << 5 | d.d());
                // `movk`, whose operand is not inverted.
                (opcode, flipped) = (0xf280_0000, 0);
            }
        }
        if count(background) == 4 {
            self.put(opcode | d.d());
        }
    }

    /// `mrs d, fpcr`
    pub fn read_fpcr(&mut self, d: Gpr) {
        self.put(0xd53b_4400 | d.d());
    }

    /// `msr fpcr, n`
    pub fn write_fpcr(&mut self, n: Gpr) {
        self.put(0xd51b_4400 | n.d());
    }

    /// Emits one or two additions of 12 bits each, or none if they would do nothing.
    fn add_parts(&mut self, opcode: u32, d: Gpr, n: Gpr, magnitude: u32) {
        const UPPER: u32 = 1 << 22;
        assert!(magnitude >> 24 == 0, "an immediate of 24 bits");
        let (lower, upper) = (magnitude & 0xfff, magnitude >> 12);
        let mut source = n;
        if lower != 0 || (upper == 0 && d != n) {
            self.put(opcode | lower << 10 | source.n() | d.d());
            source = d;
        }
        if upper != 0 {
            self.put(opcode | UPPER | upper << 10 | source.n() | d.d());
        }
    }
}

#[inline(always)]
fn immediate(mask: u64) -> u32 {
    let Some(bits) = logical_immediate(mask) else {
        panic!("no instruction has the mask {mask:#x}");
    };
    bits
}
