//! Argon2 compression with AVX-512, four rows at a time.

use std::arch::x86_64::*;

use super::compress::define_write_block;

define_write_block!(
    #[target_feature(enable = "avx512f,avx512bw")]
    __m512i,
    4
);

#[inline]
#[target_feature(enable = "avx512f")]
fn load(pairs: [[u64; 2]; 4]) -> __m512i {
    bytemuck::must_cast(pairs)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store(vector: __m512i) -> [[u64; 2]; 4] {
    bytemuck::must_cast(vector)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn add(a: __m512i, b: __m512i) -> __m512i {
    _mm512_add_epi64(a, b)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn xor(a: __m512i, b: __m512i) -> __m512i {
    _mm512_xor_si512(a, b)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn double_product(a: __m512i, b: __m512i) -> __m512i {
    let product = _mm512_mul_epu32(a, b);
    _mm512_add_epi64(product, product)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn rotate_32(a: __m512i) -> __m512i {
    _mm512_ror_epi64::<32>(a)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn rotate_24(a: __m512i) -> __m512i {
    _mm512_ror_epi64::<24>(a)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn rotate_16(a: __m512i) -> __m512i {
    _mm512_ror_epi64::<16>(a)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn rotate_63(a: __m512i) -> __m512i {
    _mm512_ror_epi64::<63>(a)
}

#[inline]
#[target_feature(enable = "avx512bw")]
fn shift_in(low: __m512i, high: __m512i) -> __m512i {
    _mm512_alignr_epi8::<8>(high, low)
}
