//! The permutation with AES-NI. Rounds are unrolled, so that the shuffle only renames registers.

use std::arch::x86_64::*;

use super::permutation::{RoundKeys, SHUFFLE, State};

#[target_feature(enable = "aes,avx2")]
pub(super) fn generate(state: &mut State, keys: &RoundKeys) {
    let keys = keys.as_chunks::<8>().0;
    let mut branches: [__m128i; 16] = bytemuck::must_cast(state.0);
    let inner = branches[0];
    // 17 rounds: four times four and one.
    for keys in keys[..16].as_chunks::<4>().0 {
        four_rounds(&mut branches, keys);
    }
    round(&mut branches, &keys[16]);
    branches[0] = _mm_xor_si128(branches[0], inner);
    state.0 = bytemuck::must_cast(branches);
}

#[inline]
#[target_feature(enable = "aes,avx2")]
fn four_rounds(branches: &mut [__m128i; 16], keys: &[[[u64; 2]; 8]; 4]) {
    round(branches, &keys[0]);
    round(branches, &keys[1]);
    round(branches, &keys[2]);
    round(branches, &keys[3]);
}

/// Computes one round. The function's second AES round takes the odd branch as its key.
#[inline]
#[target_feature(enable = "aes,avx2")]
fn round(branches: &mut [__m128i; 16], keys: &[[u64; 2]; 8]) {
    let mut mixed = *branches;
    for (function, key) in keys.iter().enumerate() {
        let (even, odd) = (branches[2 * function], branches[2 * function + 1]);
        let once = _mm_aesenc_si128(even, bytemuck::must_cast(*key));
        mixed[2 * function + 1] = _mm_aesenc_si128(once, odd);
    }
    for (branch, from) in branches.iter_mut().zip(SHUFFLE) {
        *branch = mixed[from];
    }
}
