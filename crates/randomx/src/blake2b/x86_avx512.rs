//! Blake2b's compression with AVX-512. Two registers hold the message; one instruction rotates, and
//! one selects any words of the message.

use std::arch::x86_64::*;

use super::Words;
use super::rows::define_compress;

define_compress!(#[target_feature(enable = "avx512f,avx512vl")]);

struct Message {
    low: __m512i,
    high: __m512i,
}

impl Message {
    #[inline]
    #[target_feature(enable = "avx512f,avx512vl")]
    fn new(low: &Words, high: &Words) -> Message {
        let join_halves = |words: &Words| {
            let [low, high]: [__m256i; 2] = bytemuck::must_cast(*words);
            _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high)
        };
        Message { low: join_halves(low), high: join_halves(high) }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512vl")]
    fn select(&self, words: [usize; 4]) -> __m256i {
        let [a, b, c, d] = words.map(|word| word as i64);
        let indices = _mm512_setr_epi64(a, b, c, d, 0, 0, 0, 0);
        _mm512_castsi512_si256(_mm512_permutex2var_epi64(self.low, indices, self.high))
    }
}

/// Joins the rows in one register for a single store. The next compression may begin with a load of
/// all words, and two stores of halves would not be forwarded to it.
#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
fn join(low: __m256i, high: __m256i) -> Words {
    bytemuck::must_cast(_mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high))
}

#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
fn rotate_32(a: __m256i) -> __m256i {
    _mm256_ror_epi64::<32>(a)
}

#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
fn rotate_24(a: __m256i) -> __m256i {
    _mm256_ror_epi64::<24>(a)
}

#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
fn rotate_16(a: __m256i) -> __m256i {
    _mm256_ror_epi64::<16>(a)
}

#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
fn rotate_63(a: __m256i) -> __m256i {
    _mm256_ror_epi64::<63>(a)
}
