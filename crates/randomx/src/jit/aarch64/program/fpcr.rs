//! The processor's floating point control register.
//!
//! All bits but the rounding mode are 0, as in Rust code: denormals are kept, and no exception
//! traps.

use crate::rounding::RoundingMode;

/// The position of the rounding mode in FPCR. Its two bits are those of `fprc` in reverse order.
pub(super) const ROUNDING_MODE: u8 = 22;

/// Returns FPCR for a rounding mode.
pub(super) fn of(mode: RoundingMode) -> u32 {
    reversed(mode as u32) << ROUNDING_MODE
}

/// Returns the rounding mode of an FPCR.
pub(super) fn rounding_mode(fpcr: u32) -> RoundingMode {
    RoundingMode::from_fprc(u64::from(reversed(fpcr >> ROUNDING_MODE)))
}

fn reversed(bits: u32) -> u32 {
    (bits & 1) << 1 | (bits >> 1 & 1)
}
