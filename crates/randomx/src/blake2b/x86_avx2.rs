//! Blake2b's compression with AVX2.

use std::arch::x86_64::*;

use super::Words;
use super::rows::define_compress;

define_compress!(#[target_feature(enable = "avx2")]);

/// The words stay in memory, since no instruction selects among sixteen.
struct Message([u64; 16]);

impl Message {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn new(low: &Words, high: &Words) -> Message {
        Message(bytemuck::must_cast([*low, *high]))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn select(&self, words: [usize; 4]) -> __m256i {
        let [a, b, c, d] = words.map(|word| self.0[word] as i64);
        _mm256_setr_epi64x(a, b, c, d)
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn join(low: __m256i, high: __m256i) -> Words {
    bytemuck::must_cast([low, high])
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
