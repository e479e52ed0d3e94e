//! Directed rounding (specification 4.3, Table 4.3.1) from arithmetic that rounds to nearest.
//!
//! An error-free transform gives the sign of the rounding error. If rounding to nearest went the
//! wrong way, the result moves by one unit in the last place, which is the integer 1 in its
//! encoding. The processor must round to nearest and keep denormals, as Rust code assumes; nothing
//! here changes its mode.
//!
//! The functions cover the operands of the VM, not all of IEEE 754. `add` and `sub` take finite
//! operands, the second less than the greatest number, whose result does not overflow. `mul`, `div`
//! and `sqrt` take the positive normal numbers of group E, or infinity as the first operand, and
//! their exact result is not below the normal range.
//!
//! Section 5.3 of the specification states that no operation results in a denormal number. This holds for all programs
//! of v1, and for the random programs of hashes, but not for every program of v2:
//!
//! - Each iteration begins with numbers of group E of at least 2^-255. Only divisions make them smaller. A divisor is
//!   less than 2, so a division leaves more than half. After 767 divisions a number is still normal: at least 2^-1022.
//! - A branch is taken at most twice in a row, and never back over another branch. So an iteration runs an instruction
//!   at most three times: at most 255 * 3 = 765 divisions in v1, and 383 * 3 = 1149 in v2.
//! - More than 767 divisions of one register need more than 255 instructions of v2's 384. A random program has as many
//!   with a probability below 2^-1600.
//!
//! Programs that are written for it make denormal numbers, and the engines then differ. Machine code for x86-64
//! computes zero instead. Machine code for ARM64 keeps denormals. So do this module and generated WebAssembly, but they
//! may round them to the wrong side. Generated WebAssembly may do so already below 2^-841: see
//! `jit/wasm/program/errors.rs`.

use std::marker::PhantomData;
use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Sub};

use crate::f64x2::F64x2;

/// Numbers in a binary format of IEEE 754, with arithmetic that rounds to nearest.
///
/// The VM's are pairs of doubles. Tests use formats so narrow that all operands can be tried.
pub trait Float:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
{
    /// The number of bits of the fraction, one less than the significand's.
    const FRACTION_BITS: u32;
    /// The exponent of 1 in its encoding.
    const BIAS: u64;

    /// Returns a number, or all halves of a pair, with this encoding.
    fn splat_bits(bits: u64) -> Self;

    /// Returns the square root, rounded to nearest.
    fn sqrt(self) -> Self;

    /// Returns all ones where `self < other`, else zero.
    fn less_than(self, other: Self) -> Self;

    /// Adds the encodings as integers.
    fn add_bits(self, other: Self) -> Self;

    /// Subtracts the encodings as integers.
    fn sub_bits(self, other: Self) -> Self;
}

impl Float for F64x2 {
    const FRACTION_BITS: u32 = 52;
    const BIAS: u64 = 1023;

    #[inline(always)]
    fn splat_bits(bits: u64) -> F64x2 {
        F64x2::splat_bits(bits)
    }

    #[inline(always)]
    fn sqrt(self) -> F64x2 {
        F64x2::sqrt(self)
    }

    #[inline(always)]
    fn less_than(self, other: F64x2) -> F64x2 {
        F64x2::less_than(self, other)
    }

    #[inline(always)]
    fn add_bits(self, other: F64x2) -> F64x2 {
        F64x2::add_bits(self, other)
    }

    #[inline(always)]
    fn sub_bits(self, other: F64x2) -> F64x2 {
        F64x2::sub_bits(self, other)
    }
}

/// A rounding mode: the value of `fprc`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum RoundingMode {
    /// roundTiesToEven.
    #[default]
    Nearest = 0,
    /// roundTowardNegative.
    Down = 1,
    /// roundTowardPositive.
    Up = 2,
    /// roundTowardZero.
    Zero = 3,
}

impl RoundingMode {
    /// All modes, in the order of their value of `fprc`.
    pub const ALL: [RoundingMode; 4] =
        [RoundingMode::Nearest, RoundingMode::Down, RoundingMode::Up, RoundingMode::Zero];

    /// Returns the mode that the two low bits of `fprc` select.
    pub fn from_fprc(fprc: u64) -> RoundingMode {
        Self::ALL[(fprc & 3) as usize]
    }
}

/// Encodings that a format has.
struct Encodings<F>(PhantomData<F>);

impl<F: Float> Encodings<F> {
    const IMPLICIT: u64 = 1 << F::FRACTION_BITS;
    const FRACTION: u64 = Self::IMPLICIT - 1;
    const ONE: u64 = F::BIAS << F::FRACTION_BITS;
    const INFINITY: u64 = (2 * F::BIAS + 1) << F::FRACTION_BITS;
    const SIGN: u64 = (2 * F::BIAS + 2) << F::FRACTION_BITS;
    /// The bits of the lower part of a significand, rounded up.
    const LOW: u32 = (F::FRACTION_BITS + 2) / 2;
    /// `2^LOW + 1`.
    const SPLITTER: u64 =
        (F::BIAS + Self::LOW as u64) << F::FRACTION_BITS | 1 << (F::FRACTION_BITS - Self::LOW);
}

/// Returns `a + b`.
#[inline(always)]
pub fn add<F: Float>(a: F, b: F, mode: RoundingMode) -> F {
    match mode {
        RoundingMode::Nearest => a + b,
        RoundingMode::Up => add_up(a, b),
        // Negation mirrors the mode and the sign of an exact zero, which is -0 only for Down.
        RoundingMode::Down => negate(add_up(negate(a), negate(b))),
        RoundingMode::Zero => add_toward_zero(a, b),
    }
}

/// Returns `a - b`.
#[cfg(feature = "internals")]
#[inline(always)]
pub fn sub<F: Float>(a: F, b: F, mode: RoundingMode) -> F {
    add(a, negate(b), mode)
}

/// Returns `a * b`.
#[inline(always)]
pub fn mul<F: Float>(a: F, b: F, mode: RoundingMode) -> F {
    let product = a * b;
    if mode == RoundingMode::Nearest {
        return product;
    }
    // The significands' product has an error of the same sign, which cannot overflow or underflow.
    let (_, error) = exact_product(significand(a), significand(b));
    correct(product, a, error, mode)
}

/// Returns `a / b`.
#[inline(always)]
pub fn div<F: Float>(a: F, b: F, mode: RoundingMode) -> F {
    let quotient = a / b;
    if mode == RoundingMode::Nearest {
        return quotient;
    }
    let (numerator, denominator) = (significand(a), significand(b));
    // The quotient of the significands is in [1, 2), or in [1/2, 1).
    let lower = numerator.less_than(denominator) & F::splat_bits(Encodings::<F>::IMPLICIT);
    let error = remainder(numerator, significand(quotient).sub_bits(lower), denominator);
    correct(quotient, a, error, mode)
}

/// Returns the square root of `a`.
#[inline(always)]
pub fn sqrt<F: Float>(a: F, mode: RoundingMode) -> F {
    let root = a.sqrt();
    if mode == RoundingMode::Nearest {
        return root;
    }
    // Scaled by an even power of two to [1, 4), so that the root is in [1, 2).
    let exponent_parity = a & F::splat_bits(Encodings::<F>::IMPLICIT);
    let even_exponent = F::splat_bits(Encodings::<F>::ONE + Encodings::<F>::IMPLICIT);
    let even_exponent = even_exponent.sub_bits(exponent_parity);
    let scaled = (a & F::splat_bits(Encodings::<F>::FRACTION)) | even_exponent;
    let error = remainder(scaled, significand(root), significand(root));
    correct(root, a, error, mode)
}

#[inline(always)]
fn add_up<F: Float>(a: F, b: F) -> F {
    let (sum, error) = exact_sum(a, b);
    // The next number up is +1 in a positive encoding and -1 in a negative one.
    let step = sum.less_than(zero()) | F::splat_bits(1);
    sum.add_bits(step & zero::<F>().less_than(error))
}

#[inline(always)]
fn add_toward_zero<F: Float>(a: F, b: F) -> F {
    let (sum, error) = exact_sum(a, b);
    let beyond = (zero::<F>().less_than(sum) & error.less_than(zero()))
        | (sum.less_than(zero()) & zero::<F>().less_than(error));
    // A mask is the integer -1.
    sum.add_bits(beyond)
}

/// Moves a positive `nearest` by one unit if `mode` requires it. The sign of `error` is that of the
/// exact result minus `nearest`. An infinite result is exact only where `operand` is infinite.
#[inline(always)]
fn correct<F: Float>(nearest: F, operand: F, error: F, mode: RoundingMode) -> F {
    let infinity = F::splat_bits(Encodings::<F>::INFINITY);
    let finite = nearest.less_than(infinity);
    if mode == RoundingMode::Up {
        nearest.sub_bits(zero::<F>().less_than(error) & finite)
    } else {
        // An overflow becomes the largest number, whose encoding is one less than infinity's.
        let overflow = (finite ^ F::splat_bits(u64::MAX)) & operand.less_than(infinity);
        nearest.add_bits((error.less_than(zero()) & finite) | overflow)
    }
}

/// Returns the sum rounded to nearest and its error (Knuth's TwoSum).
#[inline(always)]
fn exact_sum<F: Float>(a: F, b: F) -> (F, F) {
    let sum = a + b;
    let b_part = sum - a;
    let a_part = sum - b_part;
    (sum, (a - a_part) + (b - b_part))
}

/// Returns the product rounded to nearest and its error (Dekker's product), for operands far from
/// overflow.
#[inline(always)]
fn exact_product<F: Float>(a: F, b: F) -> (F, F) {
    let product = a * b;
    let (a_high, a_low) = split(a);
    let (b_high, b_low) = split(b);
    let error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low;
    (product, error)
}

/// Splits a significand into its upper half and the rest (Veltkamp).
#[inline(always)]
fn split<F: Float>(a: F) -> (F, F) {
    let scaled = a * F::splat_bits(Encodings::<F>::SPLITTER);
    let high = scaled - (scaled - a);
    (high, a - high)
}

/// Returns `a - x * y` exactly, where `x` is `a / y` rounded to nearest.
#[inline(always)]
fn remainder<F: Float>(a: F, x: F, y: F) -> F {
    let (product, error) = exact_product(x, y);
    (a - product) - error
}

/// Returns the number with an exponent of zero: in [1, 2).
#[inline(always)]
fn significand<F: Float>(a: F) -> F {
    (a & F::splat_bits(Encodings::<F>::FRACTION)) | F::splat_bits(Encodings::<F>::ONE)
}

#[inline(always)]
fn zero<F: Float>() -> F {
    F::splat_bits(0)
}

#[inline(always)]
fn negate<F: Float>(a: F) -> F {
    a ^ F::splat_bits(Encodings::<F>::SIGN)
}

#[cfg(test)]
mod narrow;
