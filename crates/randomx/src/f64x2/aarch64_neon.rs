//! Pairs of doubles in NEON.

#![expect(unsafe_code, reason = "calls intrinsics")]

use std::arch::aarch64::*;

pub(super) const NAME: &str = "NEON";

pub(super) type Vector = float64x2_t;

pub(super) const ZERO: Vector = bytemuck::must_cast([0u64; 2]);

#[inline(always)]
pub(super) fn from_bits(bits: [u64; 2]) -> Vector {
    bytemuck::must_cast(bits)
}

#[inline(always)]
pub(super) fn to_bits(a: Vector) -> [u64; 2] {
    bytemuck::must_cast(a)
}

/// Defines safe functions from expressions over NEON intrinsics.
macro_rules! neon {
    ($($function:ident($($argument:ident: $type:ty),*) = $expression:expr;)*) => {
        $(
            #[inline(always)]
            pub(super) fn $function($($argument: $type),*) -> Vector {
                // SAFETY: the intrinsics are pure, and NEON is part of Rust's targets for AArch64.
                unsafe { $expression }
            }
        )*
    };
}

/// Defines safe functions from bitwise operations on integers.
macro_rules! bitwise {
    ($($function:ident = $intrinsic:ident;)*) => {
        neon! {
            $(
                $function(a: Vector, b: Vector) = vreinterpretq_f64_u64($intrinsic(
                    vreinterpretq_u64_f64(a),
                    vreinterpretq_u64_f64(b),
                ));
            )*
        }
    };
}

neon! {
    from_integers(integers: u64) = vcvtq_f64_s64(vmovl_s32(vcreate_s32(integers)));
    swap(a: Vector) = vextq_f64::<1>(a, a);
    add(a: Vector, b: Vector) = vaddq_f64(a, b);
    sub(a: Vector, b: Vector) = vsubq_f64(a, b);
    mul(a: Vector, b: Vector) = vmulq_f64(a, b);
    div(a: Vector, b: Vector) = vdivq_f64(a, b);
    sqrt(a: Vector) = vsqrtq_f64(a);
    less_than(a: Vector, b: Vector) = vreinterpretq_f64_u64(vcltq_f64(a, b));
}

bitwise! {
    and = vandq_u64;
    or = vorrq_u64;
    xor = veorq_u64;
    add_bits = vaddq_u64;
    sub_bits = vsubq_u64;
}
