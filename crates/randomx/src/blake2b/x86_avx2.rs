//! Blake2b's compression with AVX2.

pub(crate) mod rotations;

use std::arch::x86_64::*;

use super::Words;
use super::rows::define_compress;
use rotations::{rotate_16, rotate_24, rotate_32, rotate_63};

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
