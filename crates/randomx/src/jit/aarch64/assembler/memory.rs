//! Loads, stores and prefetches.

use super::operand::{Gpr, Neon, Prefetch};
use super::{Assembler, Field, Label};

/// Returns the field of an unsigned offset, in units of the operand's size.
#[inline(always)]
fn scaled(offset: usize, size: usize) -> u32 {
    assert!(offset.is_multiple_of(size) && offset / size < 1 << 12, "an offset in range");
    ((offset / size) as u32) << 10
}

/// Returns the field of a signed offset of a pair.
#[inline(always)]
fn scaled_pair(offset: i32, size: i32) -> u32 {
    let units = offset / size;
    assert!(offset % size == 0 && (-64..64).contains(&units), "an offset in range");
    (units as u32 & 0x7f) << 15
}

impl Assembler {
    /// `ldr t, [base, #offset]`
    #[inline(always)]
    pub fn ldr(&mut self, t: Gpr, base: Gpr, offset: usize) {
        self.put(0xf940_0000 | scaled(offset, 8) | base.n() | t.d());
    }

    /// `str t, [base, #offset]`
    #[inline(always)]
    pub fn str(&mut self, t: Gpr, base: Gpr, offset: usize) {
        self.put(0xf900_0000 | scaled(offset, 8) | base.n() | t.d());
    }

    /// `ldr t, [base, #offset]` of 4 bytes; clears the upper half.
    #[inline(always)]
    pub fn ldr32(&mut self, t: Gpr, base: Gpr, offset: usize) {
        self.put(0xb940_0000 | scaled(offset, 4) | base.n() | t.d());
    }

    /// `str t, [base, #offset]` of the lower half.
    #[inline(always)]
    pub fn str32(&mut self, t: Gpr, base: Gpr, offset: usize) {
        self.put(0xb900_0000 | scaled(offset, 4) | base.n() | t.d());
    }

    /// `ldr t, [base], #4`: 4 bytes; clears the upper half, and moves `base` behind them.
    pub fn ldr32_next(&mut self, t: Gpr, base: Gpr) {
        self.put(0xb840_0400 | 4 << 12 | base.n() | t.d());
    }

    /// `ldr t, [base, index]`
    #[inline(always)]
    pub fn ldr_indexed(&mut self, t: Gpr, base: Gpr, index: Gpr) {
        self.put(0xf860_6800 | index.m() | base.n() | t.d());
    }

    /// `str t, [base, index]`
    #[inline(always)]
    pub fn str_indexed(&mut self, t: Gpr, base: Gpr, index: Gpr) {
        self.put(0xf820_6800 | index.m() | base.n() | t.d());
    }

    /// `ldp a, b, [base, #offset]`
    #[inline(always)]
    pub fn ldp(&mut self, a: Gpr, b: Gpr, base: Gpr, offset: i32) {
        self.put(0xa940_0000 | scaled_pair(offset, 8) | b.t2() | base.n() | a.d());
    }

    /// `stp a, b, [base, #offset]`
    #[inline(always)]
    pub fn stp(&mut self, a: Gpr, b: Gpr, base: Gpr, offset: i32) {
        self.put(0xa900_0000 | scaled_pair(offset, 8) | b.t2() | base.n() | a.d());
    }

    /// `ldp a, b, [base], #16`: moves `base` behind the pair.
    pub fn ldp_next(&mut self, a: Gpr, b: Gpr, base: Gpr) {
        self.put(0xa8c0_0000 | scaled_pair(16, 8) | b.t2() | base.n() | a.d());
    }

    /// `ldr t, [base], #8`: moves `base` behind the word.
    pub fn ldr_next(&mut self, t: Gpr, base: Gpr) {
        self.put(0xf840_0400 | 8 << 12 | base.n() | t.d());
    }

    /// `stp a, b, [sp, #-bytes]!`: makes room on the stack.
    pub fn push(&mut self, a: Gpr, b: Gpr, bytes: i32) {
        self.put(0xa980_0000 | scaled_pair(-bytes, 8) | b.t2() | Gpr::SP.n() | a.d());
    }

    /// `ldp a, b, [sp], #bytes`: gives room on the stack back.
    pub fn pop(&mut self, a: Gpr, b: Gpr, bytes: i32) {
        self.put(0xa8c0_0000 | scaled_pair(bytes, 8) | b.t2() | Gpr::SP.n() | a.d());
    }

    /// `ldr t, label`: the word `index` of the data at `label`.
    pub fn ldr_literal(&mut self, t: Gpr, label: Label, index: usize) {
        self.put_distance(0x5800_0000 | t.d(), label, 8 * index, Field::Branch19);
    }

    /// `adr d, label`
    pub fn adr(&mut self, d: Gpr, label: Label) {
        self.put_distance(0x1000_0000 | d.d(), label, 0, Field::Address);
    }

    /// `ldr t, [base, #offset]` of 8 bytes.
    #[inline(always)]
    pub fn ldr_d(&mut self, t: Neon, base: Gpr, offset: usize) {
        self.put(0xfd40_0000 | scaled(offset, 8) | base.n() | t.d());
    }

    /// `ldr t, [base, index]` of 8 bytes.
    #[inline(always)]
    pub fn ldr_d_indexed(&mut self, t: Neon, base: Gpr, index: Gpr) {
        self.put(0xfc60_6800 | index.m() | base.n() | t.d());
    }

    /// `ldr t, [base, #offset]` of 16 bytes.
    #[inline(always)]
    pub fn ldr_q(&mut self, t: Neon, base: Gpr, offset: usize) {
        self.put(0x3dc0_0000 | scaled(offset, 16) | base.n() | t.d());
    }

    /// `ldp a, b, [base, #offset]` of 16 bytes each.
    #[inline(always)]
    pub fn ldp_q(&mut self, a: Neon, b: Neon, base: Gpr, offset: i32) {
        self.put(0xad40_0000 | scaled_pair(offset, 16) | b.t2() | base.n() | a.d());
    }

    /// `stp a, b, [base, #offset]` of 16 bytes each.
    #[inline(always)]
    pub fn stp_q(&mut self, a: Neon, b: Neon, base: Gpr, offset: i32) {
        self.put(0xad00_0000 | scaled_pair(offset, 16) | b.t2() | base.n() | a.d());
    }

    /// `prfm kind, [base, #offset]`
    #[inline(always)]
    pub fn prfm(&mut self, kind: Prefetch, base: Gpr, offset: usize) {
        self.put(0xf980_0000 | scaled(offset, 8) | base.n() | kind as u32);
    }

    /// `prfm kind, [base, index]`
    #[inline(always)]
    pub fn prfm_indexed(&mut self, kind: Prefetch, base: Gpr, index: Gpr) {
        self.put(0xf8a0_6800 | index.m() | base.n() | kind as u32);
    }
}
