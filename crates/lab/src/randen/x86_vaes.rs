//! The permutation with VAES: four functions in a vector, eight in two.
//!
//! Shuffling all branches between vectors in every round would cost more than vectors save, so half of the
//! branches stay where they are. The results of a round's functions are the next round's even branches;
//! they keep their lanes, and the next round's functions take the order of their inputs. Only the odd
//! branches move. They were even branches one round earlier, so a whole round hides the move.

use std::arch::x86_64::*;

use super::lanes::{LaneKeys, MOVES, NATURAL};
use super::permutation::State;

#[target_feature(enable = "aes,vaes,avx512f,avx512vl")]
pub(super) fn generate(state: &mut State, keys: &LaneKeys) {
    let [a, b, c, d]: [__m512i; 4] = bytemuck::must_cast(state.0);
    let mut vectors = Vectors {
        even: [select(a, b, EVENS), select(c, d, EVENS)],
        odd: [select(a, b, ODDS), select(c, d, ODDS)],
    };
    macro_rules! rounds {
        ($($index:literal)*) => { $( round::<$index>(&mut vectors, keys); )* };
    }
    rounds!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16);
    let Vectors { even: [e0, e1], odd: [o0, o1] } = vectors;
    let [low, high] = NATURAL;
    let e = [select(e0, e1, low), select(e0, e1, high)];
    let o = [select(o0, o1, low), select(o0, o1, high)];
    let first = select(e[0], o[0], FIRST_PAIRS);
    let inner = _mm512_maskz_mov_epi64(0b11, a);
    state.0 = bytemuck::must_cast([
        _mm512_xor_si512(first, inner),
        select(e[0], o[0], LAST_PAIRS),
        select(e[1], o[1], FIRST_PAIRS),
        select(e[1], o[1], LAST_PAIRS),
    ]);
}

/// The even branches and their odd neighbours, in an order that changes every round.
struct Vectors {
    even: [__m512i; 2],
    odd: [__m512i; 2],
}

/// Four of the eight branches in two vectors.
type Selection = [usize; 4];

const EVENS: Selection = [0, 2, 4, 6];
const ODDS: Selection = [1, 3, 5, 7];
const FIRST_PAIRS: Selection = [0, 4, 1, 5];
const LAST_PAIRS: Selection = [2, 6, 3, 7];

/// Computes a round. Its number is a constant, so that its moves are compiled into it.
#[inline]
#[target_feature(enable = "aes,vaes,avx512f,avx512vl")]
fn round<const ROUND: usize>(vectors: &mut Vectors, keys: &LaneKeys) {
    let Vectors { even: [e0, e1], odd: [o0, o1] } = *vectors;
    let [low, high] = keys.0[ROUND].map(|keys| -> __m512i { bytemuck::must_cast(keys) });
    // The function's second AES round takes the odd branch as its key.
    let first = _mm512_aesenc_epi128(_mm512_aesenc_epi128(e0, low), o0);
    let second = _mm512_aesenc_epi128(_mm512_aesenc_epi128(e1, high), o1);
    let moves = const { MOVES[ROUND] };
    *vectors = Vectors {
        even: [first, second],
        odd: [select(e0, e1, moves[0]), select(e0, e1, moves[1])],
    };
}

/// Selects branches from two vectors.
#[inline]
#[target_feature(enable = "aes,vaes,avx512f,avx512vl")]
fn select(low: __m512i, high: __m512i, selection: Selection) -> __m512i {
    let [a, b, c, d] = selection.map(|branch| 2 * branch as i64);
    let words = _mm512_setr_epi64(a, a + 1, b, b + 1, c, c + 1, d, d + 1);
    _mm512_permutex2var_epi64(low, words, high)
}
