//! The compression with the SHA extensions. Their instruction for two rounds limits the speed: a block
//! takes 32 of them, each dependent on the one before.

use std::arch::x86_64::*;

use super::{BLOCK_SIZE, K, State};

#[target_feature(enable = "sha,sse4.1,ssse3")]
pub(super) fn blocks(state: &mut State, blocks: &[[u8; BLOCK_SIZE]]) {
    // The instructions take the state in two registers, lowest word first.
    let [a, b, c, d, e, f, g, h] = *state;
    let mut abef: __m128i = bytemuck::must_cast([f, e, b, a]);
    let mut cdgh: __m128i = bytemuck::must_cast([h, g, d, c]);
    for block in blocks {
        let (abef_before, cdgh_before) = (abef, cdgh);
        let mut w = words(block);
        for (group, k) in K.as_chunks::<4>().0.iter().enumerate() {
            // Four new words of the schedule depend on the last sixteen and replace the oldest.
            let sums = _mm_add_epi32(w[0], bytemuck::must_cast(*k));
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sums);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32::<0b11_10>(sums));
            if group < 12 {
                let partial = _mm_add_epi32(
                    _mm_sha256msg1_epu32(w[0], w[1]),
                    _mm_alignr_epi8::<4>(w[3], w[2]),
                );
                w[0] = _mm_sha256msg2_epu32(partial, w[3]);
            }
            w = [w[1], w[2], w[3], w[0]];
        }
        abef = _mm_add_epi32(abef, abef_before);
        cdgh = _mm_add_epi32(cdgh, cdgh_before);
    }
    let [f, e, b, a]: [u32; 4] = bytemuck::must_cast(abef);
    let [h, g, d, c]: [u32; 4] = bytemuck::must_cast(cdgh);
    *state = [a, b, c, d, e, f, g, h];
}

/// Returns the big-endian words of a block.
#[inline]
#[target_feature(enable = "sha,sse4.1,ssse3")]
fn words(block: &[u8; BLOCK_SIZE]) -> [__m128i; 4] {
    let bytes = _mm_setr_epi8(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12);
    let mut words: [__m128i; 4] = bytemuck::must_cast(*block);
    for word in &mut words {
        *word = _mm_shuffle_epi8(*word, bytes);
    }
    words
}
