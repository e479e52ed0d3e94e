//! Argon2 compression with AVX2: two rows, then two columns at a time.
//!
//! A block is 8 rows of 8 pairs of words. A register holds a quarter (two pairs) of a row. Along a
//! row, four registers are the four vectors of Blake2's mixing. Down the rows, eight registers are
//! the pairs of two columns side by side. No transposition is needed in between.
//!
//! As with AVX-512, the columns with the word that selects the next block are mixed first, and that
//! block is prefetched while the others are mixed.

use std::arch::x86_64::*;
use std::ops::Range;

use super::x86_prefetch::prefetch;
use super::{ARGON_MEMORY, Block, reference_index};
use crate::blake2b::x86_avx2::rotations::{rotate_16, rotate_24, rotate_32, rotate_63};

/// The distance, in blocks, from the present block to the one that is prefetched for writing.
const PREFETCH_DISTANCE: usize = 3;

/// Registers by row and by quarter of a row.
type Rows = [[__m256i; 4]; 8];

/// Writes the blocks `numbers`, counted over all passes.
#[target_feature(enable = "avx2")]
pub(super) fn write_blocks(memory: &mut [Block], numbers: Range<usize>) {
    if numbers.start < ARGON_MEMORY {
        let end = numbers.end.min(ARGON_MEMORY);
        write_blocks_of_pass::<false>(memory, numbers.start..end);
    }
    write_blocks_of_pass::<true>(memory, numbers.start.max(ARGON_MEMORY)..numbers.end);
}

/// Writes blocks of the first pass, or of later ones, where a block is XORed with the one that it
/// `REPLACES`.
#[target_feature(enable = "avx2")]
fn write_blocks_of_pass<const REPLACES: bool>(memory: &mut [Block], numbers: Range<usize>) {
    let Some(last) = numbers.clone().next().and_then(|first| first.checked_sub(1)) else { return };
    let mut previous: Rows = bytemuck::must_cast(memory[last % ARGON_MEMORY]);
    let mut random = memory[last % ARGON_MEMORY].0[0][0] as u32;
    for number in numbers {
        let (pass, index) = (number / ARGON_MEMORY, number % ARGON_MEMORY);
        prefetch::<{ _MM_HINT_ET0 }>(&memory[(index + PREFETCH_DISTANCE) % ARGON_MEMORY]);
        let reference: &Rows =
            bytemuck::must_cast_ref(&memory[reference_index(pass, index, random)]);
        let mut mixed = previous;
        for (row, other) in mixed.iter_mut().zip(reference) {
            for (quarter, other) in row.iter_mut().zip(other) {
                *quarter = _mm256_xor_si256(*quarter, *other);
            }
        }
        let mut v = mixed;
        for rows in v.as_chunks_mut::<2>().0 {
            mix_rows(rows);
        }
        let target = bytemuck::must_cast_mut(&mut memory[index]);
        write_columns::<REPLACES, 0>(&v, &mixed, &mut previous, target);
        random = _mm_cvtsi128_si32(_mm256_castsi256_si128(previous[0][0])) as u32;
        let next = number + 1;
        let reference = reference_index(next / ARGON_MEMORY, next % ARGON_MEMORY, random);
        prefetch::<{ _MM_HINT_T0 }>(&memory[reference]);
        let target = bytemuck::must_cast_mut(&mut memory[index]);
        write_columns::<REPLACES, 1>(&v, &mixed, &mut previous, target);
        write_columns::<REPLACES, 2>(&v, &mixed, &mut previous, target);
        write_columns::<REPLACES, 3>(&v, &mixed, &mut previous, target);
    }
}

/// Mixes the columns of a quarter and writes the result to `target` and to `next`.
#[inline]
#[target_feature(enable = "avx2")]
fn write_columns<const REPLACES: bool, const QUARTER: usize>(
    v: &Rows,
    mixed: &Rows,
    next: &mut Rows,
    target: &mut Rows,
) {
    let mut columns = v.map(|row| row[QUARTER]);
    mix_columns(&mut columns);
    for (row, column) in columns.into_iter().enumerate() {
        let mut words = _mm256_xor_si256(mixed[row][QUARTER], column);
        if REPLACES {
            words = _mm256_xor_si256(words, target[row][QUARTER]);
        }
        next[row][QUARTER] = words;
        target[row][QUARTER] = words;
    }
}

/// Mixes two rows.
#[inline]
#[target_feature(enable = "avx2")]
fn mix_rows(rows: &mut [[__m256i; 4]; 2]) {
    quarter_rounds(rows);
    // The second vector is ready last, so the others rotate to line up the diagonals with it.
    for v in &mut *rows {
        v[0] = _mm256_permute4x64_epi64::<0b10_01_00_11>(v[0]);
        v[3] = _mm256_permute4x64_epi64::<0b01_00_11_10>(v[3]);
        v[2] = _mm256_permute4x64_epi64::<0b00_11_10_01>(v[2]);
    }
    quarter_rounds(rows);
    for v in rows {
        v[0] = _mm256_permute4x64_epi64::<0b00_11_10_01>(v[0]);
        v[3] = _mm256_permute4x64_epi64::<0b01_00_11_10>(v[3]);
        v[2] = _mm256_permute4x64_epi64::<0b10_01_00_11>(v[2]);
    }
}

/// Mixes two columns side by side; each register holds a pair of both.
#[inline]
#[target_feature(enable = "avx2")]
fn mix_columns(v: &mut [__m256i; 8]) {
    let mut halves = [[v[0], v[2], v[4], v[6]], [v[1], v[3], v[5], v[7]]];
    quarter_rounds(&mut halves);
    let [[a0, b0, c0, d0], [a1, b1, c1, d1]] = halves;
    // Exchanging whole registers costs nothing.
    let mut rotated = [
        [a0, shift_in(b0, b1), c1, shift_in(d1, d0)],
        [a1, shift_in(b1, b0), c0, shift_in(d0, d1)],
    ];
    quarter_rounds(&mut rotated);
    let [[a0, b0, c1, d1], [a1, b1, c0, d0]] = rotated;
    *v = [a0, a1, shift_in(b1, b0), shift_in(b0, b1), c0, c1, shift_in(d1, d0), shift_in(d0, d1)];
}

/// Returns, in each pair, the upper word of `low` followed by the lower word of `high`.
#[inline]
#[target_feature(enable = "avx2")]
fn shift_in(low: __m256i, high: __m256i) -> __m256i {
    _mm256_alignr_epi8::<8>(high, low)
}

/// Computes two times four BlaMka quarter rounds.
#[inline]
#[target_feature(enable = "avx2")]
fn quarter_rounds(pairs: &mut [[__m256i; 4]; 2]) {
    for [a, b, c, d] in &mut *pairs {
        *a = add_with_product(*a, *b);
        *d = rotate_32(_mm256_xor_si256(*d, *a));
        *c = add_with_product(*c, *d);
        *b = rotate_24(_mm256_xor_si256(*b, *c));
    }
    for [a, b, c, d] in &mut *pairs {
        *a = add_with_product(*a, *b);
        *d = rotate_16(_mm256_xor_si256(*d, *a));
        *c = add_with_product(*c, *d);
        *b = rotate_63(_mm256_xor_si256(*b, *c));
    }
}

/// Returns `a + b` plus twice the product of their lower halves.
#[inline]
#[target_feature(enable = "avx2")]
fn add_with_product(a: __m256i, b: __m256i) -> __m256i {
    let product = _mm256_mul_epu32(a, b);
    _mm256_add_epi64(_mm256_add_epi64(a, b), _mm256_add_epi64(product, product))
}
