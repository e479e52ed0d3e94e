//! The compression in plain Rust, the oracle for the other implementations.

use randomx::blake2b::SIGMA;

use super::{Half, IV, Progress, State, halves};

pub(super) fn blocks(state: &mut State, blocks: &[[u8; 64]], mut progress: Progress) {
    for block in blocks {
        compress(state, halves(block), &mut progress);
    }
}

pub(super) fn pairs(state: &mut State, pairs: &[[&Half; 2]], mut progress: Progress) {
    for pair in pairs {
        compress(state, *pair, &mut progress);
    }
}

fn compress(state: &mut State, [low, high]: [&Half; 2], progress: &mut Progress) {
    let (low, high) = (low.as_chunks().0, high.as_chunks().0);
    let m: [u32; 16] =
        std::array::from_fn(|i| u32::from_le_bytes(if i < 8 { low[i] } else { high[i - 8] }));
    let mut v = [0; 16];
    v[..8].copy_from_slice(state);
    v[8..12].copy_from_slice(&IV[..4]);
    v[12..].copy_from_slice(&progress.last_row());
    for s in &SIGMA {
        quarter::<0, 4, 8, 12>(&mut v, m[s[0]], m[s[1]]);
        quarter::<1, 5, 9, 13>(&mut v, m[s[2]], m[s[3]]);
        quarter::<2, 6, 10, 14>(&mut v, m[s[4]], m[s[5]]);
        quarter::<3, 7, 11, 15>(&mut v, m[s[6]], m[s[7]]);
        quarter::<0, 5, 10, 15>(&mut v, m[s[8]], m[s[9]]);
        quarter::<1, 6, 11, 12>(&mut v, m[s[10]], m[s[11]]);
        quarter::<2, 7, 8, 13>(&mut v, m[s[12]], m[s[13]]);
        quarter::<3, 4, 9, 14>(&mut v, m[s[14]], m[s[15]]);
    }
    *state = std::array::from_fn(|i| state[i] ^ v[i] ^ v[i + 8]);
}

#[inline(always)]
fn quarter<const A: usize, const B: usize, const C: usize, const D: usize>(
    v: &mut [u32; 16],
    x: u32,
    y: u32,
) {
    v[A] = v[A].wrapping_add(v[B]).wrapping_add(x);
    v[D] = (v[D] ^ v[A]).rotate_right(16);
    v[C] = v[C].wrapping_add(v[D]);
    v[B] = (v[B] ^ v[C]).rotate_right(12);
    v[A] = v[A].wrapping_add(v[B]).wrapping_add(y);
    v[D] = (v[D] ^ v[A]).rotate_right(8);
    v[C] = v[C].wrapping_add(v[D]);
    v[B] = (v[B] ^ v[C]).rotate_right(7);
}
