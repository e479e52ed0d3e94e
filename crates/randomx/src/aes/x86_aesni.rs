//! AES rounds with AES-NI.

use std::arch::x86_64::*;

use super::{Column, Rounds, define_functions};
use crate::cpu::{Cpu, Extension};

define_functions!(AesNi(()), #[target_feature(enable = "aes")]);

/// Proof that this processor has AES-NI. Outside this module only `new` creates it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AesNi(());

impl AesNi {
    pub(super) fn new(cpu: Cpu) -> Option<AesNi> {
        cpu.has(Extension::Aes).then_some(AesNi(()))
    }
}

impl Rounds for AesNi {
    type Block = __m128i;

    #[inline(always)]
    fn load(self, column: &Column) -> __m128i {
        bytemuck::must_cast(*column)
    }

    #[inline(always)]
    fn store(self, block: __m128i) -> Column {
        bytemuck::must_cast(block)
    }

    #[inline(always)]
    fn encrypt(self, block: __m128i, key: __m128i) -> __m128i {
        // SAFETY: an `AesNi` proves that AES-NI was detected.
        unsafe { _mm_aesenc_si128(block, key) }
    }

    #[inline(always)]
    fn decrypt(self, block: __m128i, key: __m128i) -> __m128i {
        // SAFETY: an `AesNi` proves that AES-NI was detected.
        unsafe { _mm_aesdec_si128(block, key) }
    }

    #[inline(always)]
    fn prefetch_to_read(self, block: &[u8; 64]) {
        // SAFETY: a prefetch is a hint, which faults at no address. SSE is in the baseline.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(block.as_ptr().cast()) };
    }

    #[inline(always)]
    fn prefetch_to_write(self, block: &[u8; 64]) {
        // SAFETY: as above. Processors that do not know this hint ignore it.
        unsafe { _mm_prefetch::<_MM_HINT_ET0>(block.as_ptr().cast()) };
    }
}
