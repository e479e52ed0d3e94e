//! A pair of doubles: a floating point register of the VM (specification 4.3).
//!
//! All arithmetic here rounds to nearest, the only mode that Rust and WebAssembly have. `rounding`
//! derives the other three modes from it.

// The x87 unit rounds to 64 bits and then to 53, so some hashes would be wrong.
#[cfg(all(target_arch = "x86", not(target_feature = "sse2")))]
compile_error!("hashes on 32-bit x86 need SSE2: set the target feature `sse2`");

#[cfg(target_arch = "aarch64")]
mod aarch64_neon;
#[cfg(any(
    test,
    not(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "wasm32"))
))]
mod portable;
#[cfg(target_arch = "wasm32")]
mod wasm32_simd128;
#[cfg(target_arch = "x86_64")]
mod x86_sse2;

#[cfg(target_arch = "aarch64")]
use aarch64_neon as native;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "wasm32")))]
use portable as native;
#[cfg(target_arch = "wasm32")]
use wasm32_simd128 as native;
#[cfg(target_arch = "x86_64")]
use x86_sse2 as native;

/// The name of this build's implementation.
pub const IMPLEMENTATION: &str = native::NAME;

/// Two doubles, low half first.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct F64x2(native::Vector);

impl F64x2 {
    /// Both halves +0.
    pub const ZERO: F64x2 = F64x2(native::ZERO);

    /// Creates a pair from IEEE 754 encodings.
    #[inline(always)]
    pub fn from_bits(bits: [u64; 2]) -> F64x2 {
        F64x2(native::from_bits(bits))
    }

    /// Returns the IEEE 754 encodings.
    #[inline(always)]
    pub fn to_bits(self) -> [u64; 2] {
        native::to_bits(self.0)
    }

    /// Creates a pair of equal encodings.
    #[inline(always)]
    pub(crate) fn splat_bits(bits: u64) -> F64x2 {
        Self::from_bits([bits; 2])
    }

    /// Converts 8 bytes, as two signed 32-bit integers, exactly (specification 4.3.1).
    #[inline(always)]
    pub fn from_integers(bytes: [u8; 8]) -> F64x2 {
        F64x2(native::from_integers(u64::from_le_bytes(bytes)))
    }

    /// Exchanges the halves.
    #[inline(always)]
    pub fn swap(self) -> F64x2 {
        F64x2(native::swap(self.0))
    }

    #[inline(always)]
    pub(crate) fn sqrt(self) -> F64x2 {
        F64x2(native::sqrt(self.0))
    }

    /// Returns a mask: all bits of each half are set where `self < other`, else none.
    #[inline(always)]
    pub(crate) fn less_than(self, other: F64x2) -> F64x2 {
        F64x2(native::less_than(self.0, other.0))
    }

    /// Adds the encodings as integers.
    #[inline(always)]
    pub(crate) fn add_bits(self, other: F64x2) -> F64x2 {
        F64x2(native::add_bits(self.0, other.0))
    }

    /// Subtracts the encodings as integers.
    #[inline(always)]
    pub(crate) fn sub_bits(self, other: F64x2) -> F64x2 {
        F64x2(native::sub_bits(self.0, other.0))
    }
}

/// Implements a binary operator with a function of the platform's module.
macro_rules! operator {
    ($operator:ident, $method:ident, $function:ident) => {
        impl std::ops::$operator for F64x2 {
            type Output = F64x2;

            #[inline(always)]
            fn $method(self, other: F64x2) -> F64x2 {
                F64x2(native::$function(self.0, other.0))
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
    /// Compares encodings: the two zeros differ.
    fn eq(&self, other: &F64x2) -> bool {
        self.to_bits() == other.to_bits()
    }
}

impl Eq for F64x2 {}

#[cfg(test)]
mod tests {
    use super::{native, portable};
    use crate::blake_generator::BlakeGenerator;

    #[test]
    fn native_and_portable_agree() {
        let mut random = BlakeGenerator::new(b"native and portable agree");
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
                        native::to_bits(native::$function($(native::from_bits($argument)),*)),
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
                native::to_bits(native::from_integers(integers)),
                portable::to_bits(portable::from_integers(integers))
            );
        }
        assert_eq!(native::to_bits(native::ZERO), portable::to_bits(portable::ZERO));
    }
}
