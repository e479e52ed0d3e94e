//! Blake2b's compression in plain Rust, the oracle for the other implementations.

use super::{IV, Progress, SIGMA, Words, ZEROS};

pub(super) fn rehash(digest: &mut Words) {
    let message = [*digest, ZEROS];
    compress(digest, &message, Progress::REHASH);
}

pub(super) fn compress(state: &mut Words, message: &[Words; 2], progress: Progress) {
    let m: [u64; 16] = std::array::from_fn(|i| message[i / 8][i % 8]);
    let first = progress.first_rows(state);
    let mut v = [0; 16];
    v[..8].copy_from_slice(&first);
    v[8..12].copy_from_slice(&IV[..4]);
    v[12..].copy_from_slice(&progress.last_row());
    for permutation in SIGMA.iter().chain(&SIGMA[..2]) {
        round(&mut v, &m, permutation);
    }
    *state = std::array::from_fn(|i| first[i] ^ v[i] ^ v[i + 8]);
}

#[inline(always)]
fn round(v: &mut [u64; 16], m: &[u64; 16], s: &[usize; 16]) {
    quarter::<0, 4, 8, 12>(v, m[s[0]], m[s[1]]);
    quarter::<1, 5, 9, 13>(v, m[s[2]], m[s[3]]);
    quarter::<2, 6, 10, 14>(v, m[s[4]], m[s[5]]);
    quarter::<3, 7, 11, 15>(v, m[s[6]], m[s[7]]);
    quarter::<0, 5, 10, 15>(v, m[s[8]], m[s[9]]);
    quarter::<1, 6, 11, 12>(v, m[s[10]], m[s[11]]);
    quarter::<2, 7, 8, 13>(v, m[s[12]], m[s[13]]);
    quarter::<3, 4, 9, 14>(v, m[s[14]], m[s[15]]);
}

#[inline(always)]
fn quarter<const A: usize, const B: usize, const C: usize, const D: usize>(
    v: &mut [u64; 16],
    x: u64,
    y: u64,
) {
    v[A] = v[A].wrapping_add(v[B]).wrapping_add(x);
    v[D] = (v[D] ^ v[A]).rotate_right(32);
    v[C] = v[C].wrapping_add(v[D]);
    v[B] = (v[B] ^ v[C]).rotate_right(24);
    v[A] = v[A].wrapping_add(v[B]).wrapping_add(y);
    v[D] = (v[D] ^ v[A]).rotate_right(16);
    v[C] = v[C].wrapping_add(v[D]);
    v[B] = (v[B] ^ v[C]).rotate_right(63);
}
