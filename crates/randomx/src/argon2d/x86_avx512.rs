//! Argon2 compression with AVX-512: two rows, then two columns at a time.
//!
//! A block is 8 rows of 8 pairs of words. A register holds a quarter (two pairs) of two adjacent
//! rows. Along the rows, four registers are the four vectors of Blake2's mixing for two rows; down
//! the rows, they are those for two columns. No transposition is needed in between.
//!
//! The fill waits for memory more than it computes, since the first word of a block selects the
//! block to mix in next. The columns with that word are mixed first, and the selected block is
//! prefetched while the other columns are mixed.

use std::arch::x86_64::*;
use std::ops::Range;

use super::x86_prefetch::prefetch;
use super::{ARGON_MEMORY, Block, reference_index};

/// The distance, in blocks, from the present block to the one that is prefetched for writing.
const PREFETCH_DISTANCE: usize = 3;

/// Registers by pair of rows and by quarter of a row.
type Quarters = [[__m512i; 4]; 4];

/// Writes the blocks `numbers`, counted over all passes.
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn write_blocks(memory: &mut [Block], numbers: Range<usize>) {
    if numbers.start < ARGON_MEMORY {
        let end = numbers.end.min(ARGON_MEMORY);
        write_blocks_of_pass::<false>(memory, numbers.start..end);
    }
    write_blocks_of_pass::<true>(memory, numbers.start.max(ARGON_MEMORY)..numbers.end);
}

/// Writes blocks of the first pass, or of later ones, where a block is XORed with the one that it
/// `REPLACES`.
#[target_feature(enable = "avx512f,avx512bw")]
fn write_blocks_of_pass<const REPLACES: bool>(memory: &mut [Block], numbers: Range<usize>) {
    let Some(last) = numbers.clone().next().and_then(|first| first.checked_sub(1)) else { return };
    let mut previous = load(&memory[last % ARGON_MEMORY]);
    let mut random = memory[last % ARGON_MEMORY].0[0][0] as u32;
    for number in numbers {
        let (pass, index) = (number / ARGON_MEMORY, number % ARGON_MEMORY);
        prefetch::<{ _MM_HINT_ET0 }>(&memory[(index + PREFETCH_DISTANCE) % ARGON_MEMORY]);
        let reference = reference_index(pass, index, random);
        let mixed = xor(&previous, &load(&memory[reference]));
        let [mut first, mut second] = halves(&mixed);
        mix_rows(&mut first);
        mix_rows(&mut second);
        let v = [first[0], first[1], second[0], second[1]];
        let target = &mut memory[index];
        write_columns::<REPLACES, 0>(&v, &mixed, &mut previous, target);
        random = _mm_cvtsi128_si32(_mm512_castsi512_si128(previous[0][0])) as u32;
        let next = number + 1;
        let reference = reference_index(next / ARGON_MEMORY, next % ARGON_MEMORY, random);
        prefetch::<{ _MM_HINT_T0 }>(&memory[reference]);
        write_columns::<REPLACES, 2>(&v, &mixed, &mut previous, &mut memory[index]);
    }
}

/// Mixes the columns of two quarters and writes the result to `target` and to `next`.
#[inline]
#[target_feature(enable = "avx512f")]
fn write_columns<const REPLACES: bool, const QUARTER: usize>(
    v: &Quarters,
    mixed: &Quarters,
    next: &mut Quarters,
    target: &mut Block,
) {
    let target: &mut [[__m256i; 4]; 8] = bytemuck::must_cast_mut(target);
    let mut columns: [[__m512i; 4]; 2] =
        std::array::from_fn(|i| std::array::from_fn(|pair| v[pair][QUARTER + i]));
    mix_columns(&mut columns);
    for (i, column) in columns.iter().enumerate() {
        let quarter = QUARTER + i;
        for pair in 0..4 {
            let (upper, lower) = (2 * pair, 2 * pair + 1);
            let mut words = _mm512_xor_si512(mixed[pair][quarter], column[pair]);
            if REPLACES {
                words =
                    _mm512_xor_si512(words, join(target[upper][quarter], target[lower][quarter]));
            }
            next[pair][quarter] = words;
            target[upper][quarter] = _mm512_castsi512_si256(words);
            target[lower][quarter] = _mm512_extracti64x4_epi64::<1>(words);
        }
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load(block: &Block) -> Quarters {
    let rows: &[[__m256i; 4]; 8] = bytemuck::must_cast_ref(block);
    std::array::from_fn(|pair| {
        std::array::from_fn(|quarter| join(rows[2 * pair][quarter], rows[2 * pair + 1][quarter]))
    })
}

fn halves(v: &Quarters) -> [[[__m512i; 4]; 2]; 2] {
    [[v[0], v[1]], [v[2], v[3]]]
}

#[inline]
#[target_feature(enable = "avx512f")]
fn join(upper: __m256i, lower: __m256i) -> __m512i {
    _mm512_inserti64x4::<1>(_mm512_castsi256_si512(upper), lower)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn xor(a: &Quarters, b: &Quarters) -> Quarters {
    std::array::from_fn(|pair| {
        std::array::from_fn(|quarter| _mm512_xor_si512(a[pair][quarter], b[pair][quarter]))
    })
}

/// Mixes two pairs of rows. Their steps alternate here and below, because a processor does not look
/// far enough ahead to overlap the pairs by itself.
#[inline]
#[target_feature(enable = "avx512f")]
fn mix_rows(pairs: &mut [[__m512i; 4]; 2]) {
    quarter_rounds(pairs);
    // The second vector is ready last, so the others rotate to line up the diagonals with it.
    for v in &mut *pairs {
        v[0] = _mm512_permutex_epi64::<0b10_01_00_11>(v[0]);
        v[3] = _mm512_permutex_epi64::<0b01_00_11_10>(v[3]);
        v[2] = _mm512_permutex_epi64::<0b00_11_10_01>(v[2]);
    }
    quarter_rounds(pairs);
    for v in pairs {
        v[0] = _mm512_permutex_epi64::<0b00_11_10_01>(v[0]);
        v[3] = _mm512_permutex_epi64::<0b01_00_11_10>(v[3]);
        v[2] = _mm512_permutex_epi64::<0b10_01_00_11>(v[2]);
    }
}

/// Mixes two pairs of columns, whose words alternate by pairs.
#[inline]
#[target_feature(enable = "avx512f")]
fn mix_columns(pairs: &mut [[__m512i; 4]; 2]) {
    let rotate_1 = _mm512_setr_epi64(1, 4, 3, 6, 5, 0, 7, 2);
    let rotate_3 = _mm512_setr_epi64(5, 0, 7, 2, 1, 4, 3, 6);
    quarter_rounds(pairs);
    for v in &mut *pairs {
        v[0] = _mm512_permutexvar_epi64(rotate_3, v[0]);
        v[3] = _mm512_shuffle_i64x2::<0b01_00_11_10>(v[3], v[3]);
        v[2] = _mm512_permutexvar_epi64(rotate_1, v[2]);
    }
    quarter_rounds(pairs);
    for v in pairs {
        v[0] = _mm512_permutexvar_epi64(rotate_1, v[0]);
        v[3] = _mm512_shuffle_i64x2::<0b01_00_11_10>(v[3], v[3]);
        v[2] = _mm512_permutexvar_epi64(rotate_3, v[2]);
    }
}

/// Computes two times eight BlaMka quarter rounds.
#[inline]
#[target_feature(enable = "avx512f")]
fn quarter_rounds(pairs: &mut [[__m512i; 4]; 2]) {
    half_rounds::<32, 24>(pairs);
    half_rounds::<16, 63>(pairs);
}

#[inline]
#[target_feature(enable = "avx512f")]
fn half_rounds<const FIRST: i32, const SECOND: i32>(pairs: &mut [[__m512i; 4]; 2]) {
    for [a, b, ..] in &mut *pairs {
        *a = add_with_product(*a, *b);
    }
    for [a, _, _, d] in &mut *pairs {
        *d = _mm512_ror_epi64::<FIRST>(_mm512_xor_si512(*d, *a));
    }
    for [_, _, c, d] in &mut *pairs {
        *c = add_with_product(*c, *d);
    }
    for [_, b, c, _] in &mut *pairs {
        *b = _mm512_ror_epi64::<SECOND>(_mm512_xor_si512(*b, *c));
    }
}

/// Returns `a + b` plus twice the product of their lower halves.
#[inline]
#[target_feature(enable = "avx512f")]
fn add_with_product(a: __m512i, b: __m512i) -> __m512i {
    let product = _mm512_mul_epu32(a, b);
    _mm512_add_epi64(_mm512_add_epi64(a, b), _mm512_add_epi64(product, product))
}
