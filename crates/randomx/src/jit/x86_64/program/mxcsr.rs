//! The processor's floating point control register.

use crate::rounding::RoundingMode;

/// MXCSR for RandomX, without the rounding mode: all exceptions masked, denormals are zero. A random program
/// computes a denormal number with a probability below 2^-1600. [`rounding`](crate::rounding) says which programs do,
/// and how the engines then differ.
pub(super) const MXCSR: u32 = 0x9fc0;

/// The position in MXCSR of the two bits of `fprc`.
pub(super) const ROUNDING_CONTROL: u8 = 13;

/// Returns MXCSR for a rounding mode.
#[inline(always)]
pub(super) fn of(mode: RoundingMode) -> u32 {
    MXCSR | (mode as u32) << ROUNDING_CONTROL
}

/// Returns the rounding mode of an MXCSR.
#[inline(always)]
pub(super) fn rounding_mode(mxcsr: u32) -> RoundingMode {
    RoundingMode::from_fprc(u64::from(mxcsr >> ROUNDING_CONTROL))
}
