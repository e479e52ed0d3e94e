//! The machine registers of a program's state.

use crate::jit::x86_64::assembler::{Gpr, Xmm};

/// The [`Lane`](crate::engine::Lane).
pub(super) const LANE: Gpr = Gpr::Rdi;
/// The scratchpad's first byte.
pub(super) const SCRATCHPAD: Gpr = Gpr::Rsi;
/// The item that the caller passed, or the dataset from the program's offset on.
pub(super) const ITEMS: Gpr = Gpr::Rbx;
/// `ma` in the lower half, `mx` in the upper.
pub(super) const MA_MX: Gpr = Gpr::Rbp;

/// A temporary: an operand from memory, converted.
pub(super) const CONVERTED: Xmm = Xmm(12);
/// The bits that conversion to group E keeps.
pub(super) const E_KEPT: Xmm = Xmm(13);
/// The bits that conversion to group E sets.
pub(super) const E_MASK: Xmm = Xmm(14);
/// The bits that FSCAL_R flips.
pub(super) const SCALE: Xmm = Xmm(15);

/// Returns integer register `r0` to `r7`.
#[inline(always)]
pub(super) const fn r(register: u8) -> Gpr {
    // Unlike a table, this shows the compiler that all of them need a REX prefix.
    match register & 7 {
        0 => Gpr::R8,
        1 => Gpr::R9,
        2 => Gpr::R10,
        3 => Gpr::R11,
        4 => Gpr::R12,
        5 => Gpr::R13,
        6 => Gpr::R14,
        _ => Gpr::R15,
    }
}

/// Returns group F register 0 to 3.
#[inline(always)]
pub(super) const fn f(register: u8) -> Xmm {
    Xmm(register & 3)
}

/// Returns group E register 0 to 3.
#[inline(always)]
pub(super) const fn e(register: u8) -> Xmm {
    Xmm(4 | register & 3)
}

/// Returns group A register 0 to 3.
#[inline(always)]
pub(super) const fn a(register: u8) -> Xmm {
    Xmm(8 | register & 3)
}
