//! A pair of doubles: a floating point register of the VM (specification 4.3).
//!
//! All arithmetic here rounds to nearest, which is the only mode that Rust and WebAssembly
//! have; `rounding` makes the other three out of it.

#[cfg(any(test, not(any(target_arch = "x86_64", target_arch = "wasm32"))))]
mod portable;
#[cfg(target_arch = "wasm32")]
mod wasm32_simd128;
#[cfg(target_arch = "x86_64")]
mod x86_sse2;

#[cfg(not(any(target_arch = "x86_64", target_arch = "wasm32")))]
use portable as machine;
#[cfg(target_arch = "wasm32")]
use wasm32_simd128 as machine;
#[cfg(target_arch = "x86_64")]
use x86_sse2 as machine;

/// Two doubles, low half first.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct F64x2(machine::Vector);

impl F64x2 {
    /// Both halves +0.
    pub const ZERO: F64x2 = F64x2(machine::ZERO);

    /// Two doubles from their IEEE 754 encodings.
    #[inline(always)]
    pub fn from_bits(bits: [u64; 2]) -> F64x2 {
        F64x2(machine::from_bits(bits))
    }

    /// The IEEE 754 encodings.
    #[inline(always)]
    pub fn to_bits(self) -> [u64; 2] {
        machine::to_bits(self.0)
    }

    /// Two equal encodings.
    #[inline(always)]
    pub(crate) fn splat_bits(bits: u64) -> F64x2 {
        Self::from_bits([bits; 2])
    }

    /// Two equal doubles.
    #[inline(always)]
    pub(crate) fn splat(value: f64) -> F64x2 {
        Self::splat_bits(value.to_bits())
    }

    /// The conversion of specification 4.3.1: 8 bytes as two signed 32-bit integers, exactly.
    #[inline(always)]
    pub fn from_integers(bytes: [u8; 8]) -> F64x2 {
        F64x2(machine::from_integers(u64::from_le_bytes(bytes)))
    }

    /// The halves exchanged.
    #[inline(always)]
    pub fn swap(self) -> F64x2 {
        F64x2(machine::swap(self.0))
    }

    #[inline(always)]
    pub(crate) fn sqrt(self) -> F64x2 {
        F64x2(machine::sqrt(self.0))
    }

    /// All bits set in each half where `self < other`, else none.
    #[inline(always)]
    pub(crate) fn less_than(self, other: F64x2) -> F64x2 {
        F64x2(machine::less_than(self.0, other.0))
    }

    /// The encodings added as integers.
    #[inline(always)]
    pub(crate) fn add_bits(self, other: F64x2) -> F64x2 {
        F64x2(machine::add_bits(self.0, other.0))
    }

    /// The encodings subtracted as integers.
    #[inline(always)]
    pub(crate) fn sub_bits(self, other: F64x2) -> F64x2 {
        F64x2(machine::sub_bits(self.0, other.0))
    }
}

/// Implements a binary operator by a function of the machine's file.
macro_rules! operator {
    ($operator:ident, $method:ident, $function:ident) => {
        impl std::ops::$operator for F64x2 {
            type Output = F64x2;

            #[inline(always)]
            fn $method(self, other: F64x2) -> F64x2 {
                F64x2(machine::$function(self.0, other.0))
            }
        }
    };
}

operator!(Add, add, add);
operator!(Sub, sub, sub);
operator!(Mul, mul, mul);
operator!(Div, div, div);
operator!(BitAnd, bitand, and);
operator!(BitOr, bitor, or);
operator!(BitXor, bitxor, xor);

impl std::fmt::Debug for F64x2 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [low, high] = self.to_bits();
        write!(f, "({:?}, {:?})", f64::from_bits(low), f64::from_bits(high))
    }
}

impl PartialEq for F64x2 {
    /// Equality of encodings: the two zeros differ.
    fn eq(&self, other: &F64x2) -> bool {
        self.to_bits() == other.to_bits()
    }
}

impl Eq for F64x2 {}

#[cfg(test)]
mod tests {
    use super::{machine, portable};
    use crate::blake_generator::BlakeGenerator;

    /// The machine's functions are those of plain Rust, on random bits that are mostly numbers.
    #[test]
    fn machine_and_portable_agree() {
        let mut random = BlakeGenerator::new(b"machine and portable agree");
        let mut bits = || u64::from(random.word()) << 32 | u64::from(random.word());
        for _ in 0..10_000 {
            // A sign, and an exponent within 256 of zero.
            let mut number = || (bits() & !(0x7ff << 52)) | (1023 - 256 + bits() % 512) << 52;
            let (a, b) = ([number(), number()], [number(), number()]);
            let integers = a[0] ^ b[1];
            let positive = a.map(|bits| bits & !(1 << 63));

            macro_rules! compare {
                ($($function:ident($($argument:expr),*);)*) => {
                    $(assert_eq!(
                        machine::to_bits(machine::$function($(machine::from_bits($argument)),*)),
                        portable::to_bits(portable::$function($(portable::from_bits($argument)),*)),
                        "{} of {a:x?} and {b:x?}",
                        stringify!($function)
                    );)*
                };
            }
            compare! {
                swap(a);
                add(a, b);
                sub(a, b);
                mul(a, b);
                div(a, b);
                sqrt(positive);
                less_than(a, b);
                less_than(a, a);
                and(a, b);
                or(a, b);
                xor(a, b);
                add_bits(a, b);
                sub_bits(a, b);
            }
            assert_eq!(
                machine::to_bits(machine::from_integers(integers)),
                portable::to_bits(portable::from_integers(integers))
            );
        }
        assert_eq!(machine::to_bits(machine::ZERO), portable::to_bits(portable::ZERO));
    }
}
