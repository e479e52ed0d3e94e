//! The machine registers of a program's state. The calling convention preserves only [`TURNS`], [`FLAGS`] and those
//! of [`CONSTANTS`] but x30, which a call overwrites.

use crate::jit::aarch64::assembler::{Gpr, Neon};

/// The [`Lane`](crate::engine::Lane).
pub(super) const LANE: Gpr = Gpr::x(0);
/// The scratchpad's first byte.
pub(super) const SCRATCHPAD: Gpr = Gpr::x(1);
/// The item that the caller passed, or the dataset from the program's offset on.
pub(super) const ITEMS: Gpr = Gpr::x(2);
/// `ma` in the lower half, `mx` in the upper.
pub(super) const MA_MX: Gpr = Gpr::x(3);
/// `spAddr0` and `spAddr1` of the iteration, masked.
pub(super) const ADDRESSES: [Gpr; 2] = [Gpr::x(5), Gpr::x(6)];
/// Temporaries.
pub(super) const T: [Gpr; 4] = [Gpr::x(16), Gpr::x(17), Gpr::x(4), Gpr::x(7)];
/// The number of turns that each lane still has, the current one included.
pub(super) const TURNS: Gpr = Gpr::x(20);
/// The [`flag`](crate::jit::program::flag)s of the call.
pub(super) const FLAGS: Gpr = Gpr::x(21);
/// The first literals of a program.
pub(super) const CONSTANTS: [Gpr; 9] = [
    Gpr::x(19),
    Gpr::x(22),
    Gpr::x(23),
    Gpr::x(24),
    Gpr::x(25),
    Gpr::x(26),
    Gpr::x(27),
    Gpr::x(28),
    Gpr::x(30),
];

/// A temporary: an operand from memory, converted.
pub(super) const CONVERTED: Neon = Neon::v(24);
/// Four more temporaries.
pub(super) const LINE: [Neon; 4] = [Neon::v(24), Neon::v(25), Neon::v(26), Neon::v(27)];
/// The bits that conversion to group E takes from the integer. The others are those of [`E_MASK`].
pub(super) const E_CONVERTED: Neon = Neon::v(20);
/// The bits that FSCAL_R flips.
pub(super) const SCALE: Neon = Neon::v(21);
/// The bits that conversion to group E sets.
pub(super) const E_MASK: Neon = Neon::v(22);

/// Returns integer register `r0` to `r7`.
#[inline(always)]
pub(super) const fn r(register: u8) -> Gpr {
    Gpr::x(8 + (register & 7))
}

/// Returns group F register 0 to 3.
#[inline(always)]
pub(super) const fn f(register: u8) -> Neon {
    Neon::v(register & 3)
}

/// Returns group E register 0 to 3.
#[inline(always)]
pub(super) const fn e(register: u8) -> Neon {
    Neon::v(4 | register & 3)
}

/// Returns group A register 0 to 3.
#[inline(always)]
pub(super) const fn a(register: u8) -> Neon {
    Neon::v(16 | register & 3)
}
