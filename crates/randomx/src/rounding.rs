//! Directed rounding (specification 4.3, Table 4.3.1) from arithmetic that rounds to nearest.
//!
//! An error-free transform gives the sign of the rounding error. If rounding to nearest went the
//! wrong way, the result moves by one unit in the last place, which is the integer 1 in its
//! encoding. The processor must round to nearest and keep denormals, as Rust code assumes; nothing
//! here changes its mode.
//!
//! The functions cover the operands of the VM, not all of IEEE 754. `add` and `sub` take finite
//! operands whose result does not overflow. `mul`, `div` and `sqrt` take the positive normal
//! numbers of group E, or infinity as the first operand, and their exact result is not below the
//! normal range. Sections 4.3.2 and 5.3 of the specification guarantee this.

use crate::f64x2::F64x2;

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

const SIGN: u64 = 1 << 63;
const FRACTION: u64 = (1 << 52) - 1;
/// The encoding of 1.0.
const ONE: u64 = 1023 << 52;

/// Returns `a + b`.
#[inline(always)]
pub fn add(a: F64x2, b: F64x2, mode: RoundingMode) -> F64x2 {
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
pub fn sub(a: F64x2, b: F64x2, mode: RoundingMode) -> F64x2 {
    add(a, negate(b), mode)
}

/// Returns `a * b`.
#[inline(always)]
pub fn mul(a: F64x2, b: F64x2, mode: RoundingMode) -> F64x2 {
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
pub fn div(a: F64x2, b: F64x2, mode: RoundingMode) -> F64x2 {
    let quotient = a / b;
    if mode == RoundingMode::Nearest {
        return quotient;
    }
    let (numerator, denominator) = (significand(a), significand(b));
    // The quotient of the significands is in [1, 2), or in [1/2, 1).
    let lower = numerator.less_than(denominator) & F64x2::splat_bits(1 << 52);
    let error = remainder(numerator, significand(quotient).sub_bits(lower), denominator);
    correct(quotient, a, error, mode)
}

/// Returns the square root of `a`.
#[inline(always)]
pub fn sqrt(a: F64x2, mode: RoundingMode) -> F64x2 {
    let root = a.sqrt();
    if mode == RoundingMode::Nearest {
        return root;
    }
    // Scaled by an even power of two to [1, 4), so that the root is in [1, 2).
    let even_exponent = F64x2::splat_bits(ONE + (1 << 52)).sub_bits(a & F64x2::splat_bits(1 << 52));
    let scaled = (a & F64x2::splat_bits(FRACTION)) | even_exponent;
    let error = remainder(scaled, significand(root), significand(root));
    correct(root, a, error, mode)
}

#[inline(always)]
fn add_up(a: F64x2, b: F64x2) -> F64x2 {
    let (sum, error) = exact_sum(a, b);
    // The next number up is +1 in a positive encoding and -1 in a negative one.
    let step = sum.less_than(F64x2::ZERO) | F64x2::splat_bits(1);
    sum.add_bits(step & F64x2::ZERO.less_than(error))
}

#[inline(always)]
fn add_toward_zero(a: F64x2, b: F64x2) -> F64x2 {
    let (sum, error) = exact_sum(a, b);
    let beyond = (F64x2::ZERO.less_than(sum) & error.less_than(F64x2::ZERO))
        | (sum.less_than(F64x2::ZERO) & F64x2::ZERO.less_than(error));
    // A mask is the integer -1.
    sum.add_bits(beyond)
}

/// Moves a positive `nearest` by one unit if `mode` requires it. The sign of `error` is that of the
/// exact result minus `nearest`. An infinite result is exact only where `operand` is infinite.
#[inline(always)]
fn correct(nearest: F64x2, operand: F64x2, error: F64x2, mode: RoundingMode) -> F64x2 {
    let infinity = F64x2::splat(f64::INFINITY);
    let finite = nearest.less_than(infinity);
    if mode == RoundingMode::Up {
        nearest.sub_bits(F64x2::ZERO.less_than(error) & finite)
    } else {
        // An overflow becomes the largest number, whose encoding is one less than infinity's.
        let overflow = (finite ^ F64x2::splat_bits(u64::MAX)) & operand.less_than(infinity);
        nearest.add_bits((error.less_than(F64x2::ZERO) & finite) | overflow)
    }
}

/// Returns the sum rounded to nearest and its error (Knuth's TwoSum).
#[inline(always)]
fn exact_sum(a: F64x2, b: F64x2) -> (F64x2, F64x2) {
    let sum = a + b;
    let b_part = sum - a;
    let a_part = sum - b_part;
    (sum, (a - a_part) + (b - b_part))
}

/// Returns the product rounded to nearest and its error (Dekker's product), for operands far from
/// overflow.
#[inline(always)]
fn exact_product(a: F64x2, b: F64x2) -> (F64x2, F64x2) {
    let product = a * b;
    let (a_high, a_low) = split(a);
    let (b_high, b_low) = split(b);
    let error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low;
    (product, error)
}

/// Splits a significand into its upper 26 bits and the rest (Veltkamp).
#[inline(always)]
fn split(a: F64x2) -> (F64x2, F64x2) {
    let scaled = a * F64x2::splat(134_217_729.0);
    let high = scaled - (scaled - a);
    (high, a - high)
}

/// Returns `a - x * y` exactly, where `x` is `a / y` rounded to nearest.
#[inline(always)]
fn remainder(a: F64x2, x: F64x2, y: F64x2) -> F64x2 {
    let (product, error) = exact_product(x, y);
    (a - product) - error
}

/// Returns the number with an exponent of zero: in [1, 2).
#[inline(always)]
fn significand(a: F64x2) -> F64x2 {
    (a & F64x2::splat_bits(FRACTION)) | F64x2::splat_bits(ONE)
}

#[inline(always)]
fn negate(a: F64x2) -> F64x2 {
    a ^ F64x2::splat_bits(SIGN)
}
