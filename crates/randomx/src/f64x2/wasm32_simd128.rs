//! Pairs of doubles in WebAssembly SIMD.

use std::arch::wasm32::*;

pub(super) const NAME: &str = "SIMD128";

pub(super) type Vector = v128;

pub(super) const ZERO: Vector = u64x2(0, 0);

#[inline(always)]
pub(super) fn from_bits(bits: [u64; 2]) -> Vector {
    u64x2(bits[0], bits[1])
}

#[inline(always)]
pub(super) fn to_bits(a: Vector) -> [u64; 2] {
    [u64x2_extract_lane::<0>(a), u64x2_extract_lane::<1>(a)]
}

#[inline(always)]
pub(super) fn from_integers(integers: u64) -> Vector {
    f64x2_convert_low_i32x4(u64x2(integers, 0))
}

#[inline(always)]
pub(super) fn swap(a: Vector) -> Vector {
    u64x2_shuffle::<1, 0>(a, a)
}

#[inline(always)]
pub(super) fn add(a: Vector, b: Vector) -> Vector {
    f64x2_add(a, b)
}

#[inline(always)]
pub(super) fn sub(a: Vector, b: Vector) -> Vector {
    f64x2_sub(a, b)
}

#[inline(always)]
pub(super) fn mul(a: Vector, b: Vector) -> Vector {
    f64x2_mul(a, b)
}

#[inline(always)]
pub(super) fn div(a: Vector, b: Vector) -> Vector {
    f64x2_div(a, b)
}

#[inline(always)]
pub(super) fn sqrt(a: Vector) -> Vector {
    f64x2_sqrt(a)
}

#[inline(always)]
pub(super) fn less_than(a: Vector, b: Vector) -> Vector {
    f64x2_lt(a, b)
}

#[inline(always)]
pub(super) fn and(a: Vector, b: Vector) -> Vector {
    v128_and(a, b)
}

#[inline(always)]
pub(super) fn or(a: Vector, b: Vector) -> Vector {
    v128_or(a, b)
}

#[inline(always)]
pub(super) fn xor(a: Vector, b: Vector) -> Vector {
    v128_xor(a, b)
}

#[inline(always)]
pub(super) fn add_bits(a: Vector, b: Vector) -> Vector {
    u64x2_add(a, b)
}

#[inline(always)]
pub(super) fn sub_bits(a: Vector, b: Vector) -> Vector {
    u64x2_sub(a, b)
}
