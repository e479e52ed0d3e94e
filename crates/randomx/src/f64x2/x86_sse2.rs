//! Pairs of doubles in SSE2.

#![expect(unsafe_code, reason = "calls intrinsics")]

use std::arch::x86_64::*;

pub(super) const NAME: &str = "SSE2";

pub(super) type Vector = __m128d;

pub(super) const ZERO: Vector = bytemuck::must_cast([0u64; 2]);

#[inline(always)]
pub(super) fn from_bits(bits: [u64; 2]) -> Vector {
    bytemuck::must_cast(bits)
}

#[inline(always)]
pub(super) fn to_bits(a: Vector) -> [u64; 2] {
    bytemuck::must_cast(a)
}

/// Defines safe functions from expressions over SSE2 intrinsics.
macro_rules! sse2 {
    ($($function:ident($($argument:ident: $type:ty),*) = $expression:expr;)*) => {
        $(
            #[inline(always)]
            pub(super) fn $function($($argument: $type),*) -> Vector {
                // SAFETY: the intrinsics are pure, and SSE2 is part of x86-64 itself.
                unsafe { $expression }
            }
        )*
    };
}

sse2! {
    from_integers(integers: u64) = _mm_cvtepi32_pd(_mm_cvtsi64_si128(integers as i64));
    swap(a: Vector) = _mm_shuffle_pd::<1>(a, a);
    add(a: Vector, b: Vector) = _mm_add_pd(a, b);
    sub(a: Vector, b: Vector) = _mm_sub_pd(a, b);
    mul(a: Vector, b: Vector) = _mm_mul_pd(a, b);
    div(a: Vector, b: Vector) = _mm_div_pd(a, b);
    sqrt(a: Vector) = _mm_sqrt_pd(a);
    less_than(a: Vector, b: Vector) = _mm_cmplt_pd(a, b);
    and(a: Vector, b: Vector) = _mm_and_pd(a, b);
    or(a: Vector, b: Vector) = _mm_or_pd(a, b);
    xor(a: Vector, b: Vector) = _mm_xor_pd(a, b);
    add_bits(a: Vector, b: Vector) =
        _mm_castsi128_pd(_mm_add_epi64(_mm_castpd_si128(a), _mm_castpd_si128(b)));
    sub_bits(a: Vector, b: Vector) =
        _mm_castsi128_pd(_mm_sub_epi64(_mm_castpd_si128(a), _mm_castpd_si128(b)));
}
