//! All operands of narrow formats, against exact arithmetic on integers.
//!
//! The algorithms are the ones that compute with doubles. They depend on a format only through the
//! number of bits of its significand and the range of its exponents, which is as wide here as the
//! errors need.

use std::cmp::Ordering;
use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Sub};
use std::sync::OnceLock;

use super::{Float, RoundingMode, add, div, mul, sqrt, sub};

/// The exponent of 1 in its encoding: exponents have 5 bits.
const BIAS: u64 = 15;

/// A number with `P` bits of significand, as its encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Narrow<const P: u32>(u64);

impl<const P: u32> Narrow<P> {
    const INFINITY: u64 = (2 * BIAS + 1) << (P - 1);
    const SIGN: u64 = (2 * BIAS + 2) << (P - 1);
    const ALL: u64 = 2 * Self::SIGN - 1;
    /// The bits after the point of all values: a unit of the least exponent is 1.
    const POINT: u32 = BIAS as u32 - 1 + P - 1;

    fn is_negative(self) -> bool {
        self.0 & Self::SIGN != 0
    }

    fn is_infinite(self) -> bool {
        self.0 & !Self::SIGN == Self::INFINITY
    }

    fn is_nan(self) -> bool {
        self.0 & !Self::SIGN > Self::INFINITY
    }

    /// The absolute value. Infinity has that of the next number after the greatest.
    fn magnitude(self) -> i128 {
        let (exponent, fraction) = (self.0 >> (P - 1) & 31, self.0 & ((1 << (P - 1)) - 1));
        match exponent {
            0 => i128::from(fraction),
            _ => i128::from(fraction | 1 << (P - 1)) << (exponent - 1),
        }
    }

    fn value(self) -> i128 {
        if self.is_negative() { -self.magnitude() } else { self.magnitude() }
    }

    fn signed(magnitude: u64, negative: bool) -> Self {
        Self(magnitude | if negative { Self::SIGN } else { 0 })
    }
}

/// The exact result of an operation, as far as rounding depends on it.
struct Exact<const P: u32> {
    /// The greatest finite number that is not above the absolute value, or infinity.
    below: u64,
    /// Whether that is the absolute value.
    is_exact: bool,
    /// The absolute value compared with the middle between that number and the next.
    to_middle: Ordering,
    /// The sign. That of a zero may depend on the mode.
    is_negative: Option<bool>,
}

impl<const P: u32> Exact<P> {
    /// Finds a number by `compare`, which compares the absolute value with half of an integer.
    fn new(compare: impl Fn(i128) -> Ordering, is_negative: Option<bool>) -> Self {
        let value = |bits| 2 * Narrow::<P>(bits).magnitude();
        let (mut low, mut high) = (0, Narrow::<P>::INFINITY);
        while high - low > 1 {
            let middle = low.midpoint(high);
            if compare(value(middle)).is_lt() { high = middle } else { low = middle }
        }
        Self {
            below: low,
            is_exact: compare(value(low)).is_eq(),
            to_middle: compare(value(low).midpoint(value(low + 1))),
            is_negative,
        }
    }

    fn infinite(is_negative: bool) -> Self {
        Self {
            below: Narrow::<P>::INFINITY,
            is_exact: true,
            to_middle: Ordering::Less,
            is_negative: Some(is_negative),
        }
    }

    /// Rounds the result.
    fn rounded(&self, mode: RoundingMode) -> Narrow<P> {
        let negative = self.is_negative.unwrap_or(mode == RoundingMode::Down);
        let up = match toward(mode, negative) {
            _ if self.is_exact => false,
            Toward::Zero => false,
            Toward::Infinity => true,
            Toward::Nearest => match self.to_middle {
                Ordering::Less => false,
                Ordering::Greater => true,
                Ordering::Equal => self.below & 1 == 1,
            },
        };
        Narrow::signed(self.below + u64::from(up), negative)
    }
}

/// The direction in which a number that is not negative is rounded.
#[derive(Clone, Copy)]
enum Toward {
    Nearest,
    Zero,
    Infinity,
}

fn toward(mode: RoundingMode, negative: bool) -> Toward {
    match (mode, negative) {
        (RoundingMode::Nearest, _) => Toward::Nearest,
        (RoundingMode::Zero, _) | (RoundingMode::Down, false) | (RoundingMode::Up, true) => {
            Toward::Zero
        }
        (RoundingMode::Up, false) | (RoundingMode::Down, true) => Toward::Infinity,
    }
}

fn exact_add<const P: u32>(a: Narrow<P>, b: Narrow<P>) -> Exact<P> {
    let sum = a.value() + b.value();
    let is_negative = match sum {
        0 => (a.is_negative() == b.is_negative()).then_some(a.is_negative()),
        sum => Some(sum < 0),
    };
    Exact::new(|half| (2 * sum.abs()).cmp(&half), is_negative)
}

fn exact_mul<const P: u32>(a: Narrow<P>, b: Narrow<P>) -> Exact<P> {
    let negative = a.is_negative() != b.is_negative();
    if a.is_infinite() {
        return Exact::infinite(negative);
    }
    let product = a.magnitude() * b.magnitude();
    Exact::new(|half| (2 * product).cmp(&(half << Narrow::<P>::POINT)), Some(negative))
}

fn exact_div<const P: u32>(a: Narrow<P>, b: Narrow<P>) -> Exact<P> {
    let negative = a.is_negative() != b.is_negative();
    if a.is_infinite() {
        return Exact::infinite(negative);
    }
    let (numerator, denominator) = (a.magnitude() << Narrow::<P>::POINT, b.magnitude());
    Exact::new(|half| (2 * numerator).cmp(&(half * denominator)), Some(negative))
}

fn exact_sqrt<const P: u32>(a: Narrow<P>) -> Exact<P> {
    if a.is_infinite() {
        return Exact::infinite(false);
    }
    let square = 4 * (a.magnitude() << Narrow::<P>::POINT);
    Exact::new(|half| square.cmp(&(half * half)), Some(false))
}

/// The results of an operation on all pairs of operands, rounded to nearest, by the number of bits. The algorithms use
/// each result some 50 times.
struct Nearest([OnceLock<Vec<u16>>; 8]);

impl Nearest {
    const fn new() -> Self {
        Self([const { OnceLock::new() }; 8])
    }

    fn of<const P: u32>(
        &self,
        exact: fn(Narrow<P>, Narrow<P>) -> Exact<P>,
        a: Narrow<P>,
        b: Narrow<P>,
    ) -> Narrow<P> {
        let results = self.0[P as usize].get_or_init(|| {
            let all = || (0..=Narrow::<P>::ALL).map(Narrow);
            let pairs = all().flat_map(|a| all().map(move |b| (a, b)));
            pairs.map(|(a, b)| exact(a, b).rounded(RoundingMode::Nearest).0 as u16).collect()
        });
        Narrow(results[(a.0 * (Narrow::<P>::ALL + 1) + b.0) as usize].into())
    }
}

static SUMS: Nearest = Nearest::new();
static PRODUCTS: Nearest = Nearest::new();
static QUOTIENTS: Nearest = Nearest::new();

fn nearest_sum<const P: u32>(a: Narrow<P>, b: Narrow<P>) -> Narrow<P> {
    assert!(!a.is_infinite() && !b.is_infinite());
    SUMS.of(exact_add, a, b)
}

/// Implements an operator by a function of two operands.
macro_rules! operator {
    ($operator:ident, $method:ident, $function:expr) => {
        impl<const P: u32> $operator for Narrow<P> {
            type Output = Self;

            fn $method(self, other: Self) -> Self {
                $function(self, other)
            }
        }
    };
}

operator!(Add, add, nearest_sum);
operator!(Sub, sub, |a, b: Self| nearest_sum(a, Self(b.0 ^ Self::SIGN)));
operator!(Mul, mul, |a, b| PRODUCTS.of(exact_mul, a, b));
operator!(Div, div, |a, b| QUOTIENTS.of(exact_div, a, b));
operator!(BitAnd, bitand, |a: Self, b: Self| Self(a.0 & b.0));
operator!(BitOr, bitor, |a: Self, b: Self| Self(a.0 | b.0));
operator!(BitXor, bitxor, |a: Self, b: Self| Self(a.0 ^ b.0));

impl<const P: u32> Float for Narrow<P> {
    const FRACTION_BITS: u32 = P - 1;
    const BIAS: u64 = BIAS;

    fn splat_bits(bits: u64) -> Self {
        Self(bits & Self::ALL)
    }

    fn sqrt(self) -> Self {
        exact_sqrt(self).rounded(RoundingMode::Nearest)
    }

    fn less_than(self, other: Self) -> Self {
        Self(if self.value() < other.value() { Self::ALL } else { 0 })
    }

    fn add_bits(self, other: Self) -> Self {
        Self(self.0.wrapping_add(other.0) & Self::ALL)
    }

    fn sub_bits(self, other: Self) -> Self {
        Self(self.0.wrapping_sub(other.0) & Self::ALL)
    }
}

/// Tries all pairs of finite operands, of either sign, whose sum does not overflow. The second is not
/// the greatest number.
fn sums<const P: u32>() {
    let all = || (0..=Narrow::<P>::ALL).map(Narrow::<P>).filter(|number| !number.is_nan());
    let greatest = Narrow::<P>::INFINITY - 1;
    for a in all().filter(|a| !a.is_infinite()) {
        for b in all().filter(|b| b.magnitude() < Narrow::<P>(greatest).magnitude()) {
            // TwoSum rounds to nearest first, which must not overflow either.
            if (a + b).is_infinite() {
                continue;
            }
            let sum = exact_add(a, b);
            for mode in RoundingMode::ALL {
                let expected = sum.rounded(mode);
                if expected.is_infinite() {
                    continue;
                }
                assert_eq!(add(a, b, mode), expected, "{a:?} + {b:?}, {mode:?}");
                let negated = Narrow(b.0 ^ Narrow::<P>::SIGN);
                assert_eq!(sub(a, negated, mode), expected, "{a:?} - {negated:?}, {mode:?}");
            }
        }
    }
}

/// Tries all positive normal operands and an infinite first one, where the result is not below the
/// normal range.
fn products_quotients_roots<const P: u32>() {
    let normal = || (1 << (P - 1)..Narrow::<P>::INFINITY).map(Narrow::<P>);
    let is_normal = |number: Narrow<P>| number.0 >> (P - 1) != 0;
    for a in normal().chain([Narrow(Narrow::<P>::INFINITY)]) {
        let root = exact_sqrt(a);
        for mode in RoundingMode::ALL {
            assert_eq!(sqrt(a, mode), root.rounded(mode), "square root of {a:?}, {mode:?}");
        }
        for b in normal() {
            let (product, quotient) = (exact_mul(a, b), exact_div(a, b));
            // A result that is rounded down stays normal only if the exact one is.
            let [tries_product, tries_quotient] =
                [&product, &quotient].map(|exact| is_normal(exact.rounded(RoundingMode::Down)));
            for mode in RoundingMode::ALL {
                if tries_product {
                    assert_eq!(mul(a, b, mode), product.rounded(mode), "{a:?} * {b:?}, {mode:?}");
                }
                if tries_quotient {
                    assert_eq!(div(a, b, mode), quotient.rounded(mode), "{a:?} / {b:?}, {mode:?}");
                }
            }
        }
    }
}

#[test]
fn all_operands_of_few_bits_are_rounded_exactly() {
    sums::<4>();
    products_quotients_roots::<4>();
    products_quotients_roots::<5>();
}

/// Like the doubles' 53 bits, 7 are an odd number.
#[test]
#[ignore = "full tests: takes minutes"]
fn all_operands_of_seven_bits_are_rounded_exactly() {
    sums::<5>();
    sums::<7>();
    products_quotients_roots::<6>();
    products_quotients_roots::<7>();
}
