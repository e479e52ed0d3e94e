//! The permutation with VAES: four functions in a vector, eight in two.
//!
//! A shuffle of vectors' branches in every round would cost more than it saves, but half of it need not
//! happen. What a round's functions give are the next round's even branches, so they stay in their lanes,
//! and the next round's functions are taken in the order of their inputs. Only the odd branches move.
//! They were even ones a round before, when a whole round is left to move them.

use std::arch::x86_64::*;

use super::State;
use super::lanes::{LaneKeys, MOVES, NATURAL};

#[target_feature(enable = "aes,vaes,avx512f,avx512vl")]
pub(super) fn generate(state: &mut State, keys: &LaneKeys) {
    let [a, b, c, d]: [__m512i; 4] = bytemuck::must_cast(state.0);
    let mut vectors = Vectors {
        even: [both(a, b, EVENS), both(c, d, EVENS)],
        odd: [both(a, b, ODDS), both(c, d, ODDS)],
    };
    macro_rules! rounds {
        ($($index:literal)*) => { $( round::<$index>(&mut vectors, keys); )* };
    }
    rounds!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16);
    let Vectors { even: [e0, e1], odd: [o0, o1] } = vectors;
    let [low, high] = NATURAL;
    let e = [both(e0, e1, low), both(e0, e1, high)];
    let o = [both(o0, o1, low), both(o0, o1, high)];
    let first = both(e[0], o[0], FIRST_PAIRS);
    let inner = _mm512_maskz_mov_epi64(0b11, a);
    state.0 = bytemuck::must_cast([
        _mm512_xor_si512(first, inner),
        both(e[0], o[0], LAST_PAIRS),
        both(e[1], o[1], FIRST_PAIRS),
        both(e[1], o[1], LAST_PAIRS),
    ]);
}

/// The even branches and their neighbours, in an order that changes from round to round.
struct Vectors {
    even: [__m512i; 2],
    odd: [__m512i; 2],
}

/// Branches of two vectors, four of eight.
type Selection = [usize; 4];

const EVENS: Selection = [0, 2, 4, 6];
const ODDS: Selection = [1, 3, 5, 7];
const FIRST_PAIRS: Selection = [0, 4, 1, 5];
const LAST_PAIRS: Selection = [2, 6, 3, 7];

/// Each round is a function of its own, into which its moves are compiled.
#[inline]
#[target_feature(enable = "aes,vaes,avx512f,avx512vl")]
fn round<const ROUND: usize>(vectors: &mut Vectors, keys: &LaneKeys) {
    let Vectors { even: [e0, e1], odd: [o0, o1] } = *vectors;
    let [low, high] = keys.0[ROUND].map(|keys| -> __m512i { bytemuck::must_cast(keys) });
    // The second round of a function adds the odd branch as its key.
    let first = _mm512_aesenc_epi128(_mm512_aesenc_epi128(e0, low), o0);
    let second = _mm512_aesenc_epi128(_mm512_aesenc_epi128(e1, high), o1);
    let moves = const { MOVES[ROUND] };
    *vectors =
        Vectors { even: [first, second], odd: [both(e0, e1, moves[0]), both(e0, e1, moves[1])] };
}

/// Selects among the branches of two vectors.
#[inline]
#[target_feature(enable = "aes,vaes,avx512f,avx512vl")]
fn both(low: __m512i, high: __m512i, selection: Selection) -> __m512i {
    let [a, b, c, d] = selection.map(|branch| 2 * branch as i64);
    let words = _mm512_setr_epi64(a, a + 1, b, b + 1, c, c + 1, d, d + 1);
    _mm512_permutex2var_epi64(low, words, high)
}
