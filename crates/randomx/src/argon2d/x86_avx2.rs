//! Argon2 compression with AVX2, two rows at a time.

use std::arch::x86_64::*;

use super::compress::define_write_blocks;

define_write_blocks!(
    #[target_feature(enable = "avx2")]
    __m256i,
    2
);

#[inline]
#[target_feature(enable = "avx2")]
fn load(pairs: [[u64; 2]; 2]) -> __m256i {
    bytemuck::must_cast(pairs)
}

#[inline]
#[target_feature(enable = "avx2")]
fn store(vector: __m256i) -> [[u64; 2]; 2] {
    bytemuck::must_cast(vector)
}

#[inline]
#[target_feature(enable = "avx2")]
fn add(a: __m256i, b: __m256i) -> __m256i {
    _mm256_add_epi64(a, b)
}

#[inline]
#[target_feature(enable = "avx2")]
fn xor(a: __m256i, b: __m256i) -> __m256i {
    _mm256_xor_si256(a, b)
}

#[inline]
#[target_feature(enable = "avx2")]
fn double_product(a: __m256i, b: __m256i) -> __m256i {
    let product = _mm256_mul_epu32(a, b);
    _mm256_add_epi64(product, product)
}

#[inline]
#[target_feature(enable = "avx2")]
fn rotate_32(a: __m256i) -> __m256i {
    _mm256_shuffle_epi32::<0b10_11_00_01>(a)
}

#[inline]
#[target_feature(enable = "avx2")]
fn rotate_24(a: __m256i) -> __m256i {
    let bytes = _mm_setr_epi8(3, 4, 5, 6, 7, 0, 1, 2, 11, 12, 13, 14, 15, 8, 9, 10);
    _mm256_shuffle_epi8(a, _mm256_broadcastsi128_si256(bytes))
}

#[inline]
#[target_feature(enable = "avx2")]
fn rotate_16(a: __m256i) -> __m256i {
    let bytes = _mm_setr_epi8(2, 3, 4, 5, 6, 7, 0, 1, 10, 11, 12, 13, 14, 15, 8, 9);
    _mm256_shuffle_epi8(a, _mm256_broadcastsi128_si256(bytes))
}

#[inline]
#[target_feature(enable = "avx2")]
fn rotate_63(a: __m256i) -> __m256i {
    _mm256_or_si256(_mm256_add_epi64(a, a), _mm256_srli_epi64::<63>(a))
}

#[inline]
#[target_feature(enable = "avx2")]
fn shift_in(low: __m256i, high: __m256i) -> __m256i {
    _mm256_alignr_epi8::<8>(high, low)
}
