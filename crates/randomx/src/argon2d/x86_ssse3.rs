//! Argon2 compression with SSSE3, one row at a time.

use std::arch::x86_64::*;

use super::Block;
use super::compress::define_write_blocks;
use super::x86_prefetch;

define_write_blocks!(__m128i, "ssse3");

#[inline]
#[target_feature(enable = "ssse3")]
fn prefetch(block: &Block) {
    x86_prefetch::prefetch::<{ _MM_HINT_T0 }>(block);
}

#[inline]
#[target_feature(enable = "ssse3")]
fn load(pair: [u64; 2]) -> __m128i {
    bytemuck::must_cast(pair)
}

#[inline]
#[target_feature(enable = "ssse3")]
fn store(vector: __m128i) -> [u64; 2] {
    bytemuck::must_cast(vector)
}

#[inline]
#[target_feature(enable = "ssse3")]
fn add(a: __m128i, b: __m128i) -> __m128i {
    _mm_add_epi64(a, b)
}

#[inline]
#[target_feature(enable = "ssse3")]
fn xor(a: __m128i, b: __m128i) -> __m128i {
    _mm_xor_si128(a, b)
}

#[inline]
#[target_feature(enable = "ssse3")]
fn double_product(a: __m128i, b: __m128i) -> __m128i {
    let product = _mm_mul_epu32(a, b);
    _mm_add_epi64(product, product)
}

#[inline]
#[target_feature(enable = "ssse3")]
fn rotate_32(a: __m128i) -> __m128i {
    _mm_shuffle_epi32::<0b10_11_00_01>(a)
}

#[inline]
#[target_feature(enable = "ssse3")]
fn rotate_24(a: __m128i) -> __m128i {
    _mm_shuffle_epi8(a, _mm_setr_epi8(3, 4, 5, 6, 7, 0, 1, 2, 11, 12, 13, 14, 15, 8, 9, 10))
}

#[inline]
#[target_feature(enable = "ssse3")]
fn rotate_16(a: __m128i) -> __m128i {
    _mm_shuffle_epi8(a, _mm_setr_epi8(2, 3, 4, 5, 6, 7, 0, 1, 10, 11, 12, 13, 14, 15, 8, 9))
}

#[inline]
#[target_feature(enable = "ssse3")]
fn rotate_63(a: __m128i) -> __m128i {
    _mm_or_si128(_mm_srli_epi64::<63>(a), _mm_add_epi64(a, a))
}

#[inline]
#[target_feature(enable = "ssse3")]
fn shift_in(low: __m128i, high: __m128i) -> __m128i {
    _mm_alignr_epi8::<8>(high, low)
}
