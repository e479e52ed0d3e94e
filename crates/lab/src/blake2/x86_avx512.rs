//! The compression with AVX-512 VL. A rotation is one instruction, and so is a selection of any words from
//! the message, which fits into two registers.

#![expect(unsafe_code, reason = "keeps the compiler from moving a load")]

use std::arch::asm;
use std::arch::x86_64::*;

use super::rows::{define_chain, define_compress};

const ROTATE_LAST: bool = false;

define_compress!(#[target_feature(enable = "avx512f,avx512vl")]);
define_chain!(#[target_feature(enable = "avx512f,avx512vl")]);

/// Two vectors of 256 bits: using 512 bits would take one of three ports away.
struct Message {
    low: __m256i,
    high: __m256i,
}

impl Message {
    #[inline]
    #[target_feature(enable = "avx512f,avx512vl")]
    fn new(words: &[u32; 16]) -> Message {
        let [low, high] = bytemuck::must_cast(*words);
        Message { low, high }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512vl")]
    fn select(&self, words: [usize; 4]) -> __m128i {
        let [a, b, c, d] = words.map(|word| word as i32);
        let indices = _mm256_setr_epi32(a, b, c, d, 0, 0, 0, 0);
        _mm256_castsi256_si128(_mm256_permutex2var_epi32(self.low, indices, self.high))
    }

    /// Returns the message, but makes it depend on `row`. Otherwise the compiler would select the words of all
    /// rounds at the beginning, for which there are too few registers.
    #[inline]
    #[target_feature(enable = "avx512f,avx512vl")]
    fn after(&self, row: &mut __m128i) -> Message {
        let Message { mut low, mut high } = *self;
        // SAFETY: the assembly contains no instruction.
        unsafe {
            asm!(
                "/* {low} {high} {row} */",
                low = inout(ymm_reg) low,
                high = inout(ymm_reg) high,
                row = inout(xmm_reg) *row,
                options(pure, nomem, nostack, preserves_flags),
            );
        }
        Message { low, high }
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
fn rotate_16(row: __m128i) -> __m128i {
    _mm_ror_epi32::<16>(row)
}

#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
fn rotate_12(row: __m128i) -> __m128i {
    _mm_ror_epi32::<12>(row)
}

#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
fn rotate_8(row: __m128i) -> __m128i {
    _mm_ror_epi32::<8>(row)
}

#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
fn rotate_7(row: __m128i) -> __m128i {
    _mm_ror_epi32::<7>(row)
}
