//! The rotations of Blake2b, which Argon2's compression has too, with AVX2.

use std::arch::x86_64::*;

#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn rotate_32(a: __m256i) -> __m256i {
    _mm256_shuffle_epi32::<0b10_11_00_01>(a)
}

#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn rotate_24(a: __m256i) -> __m256i {
    let bytes = _mm_setr_epi8(3, 4, 5, 6, 7, 0, 1, 2, 11, 12, 13, 14, 15, 8, 9, 10);
    _mm256_shuffle_epi8(a, _mm256_broadcastsi128_si256(bytes))
}

#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn rotate_16(a: __m256i) -> __m256i {
    let bytes = _mm_setr_epi8(2, 3, 4, 5, 6, 7, 0, 1, 10, 11, 12, 13, 14, 15, 8, 9);
    _mm256_shuffle_epi8(a, _mm256_broadcastsi128_si256(bytes))
}

#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn rotate_63(a: __m256i) -> __m256i {
    _mm256_or_si256(_mm256_add_epi64(a, a), _mm256_srli_epi64::<63>(a))
}
