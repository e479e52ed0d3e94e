//! AES rounds with WebAssembly SIMD, which looks up 16 bytes at once in a table of 16 bytes.
//!
//! SubBytes is an inversion in GF(2^8), represented as pairs of GF(2^4). Every function of an
//! element of GF(2^4) is one lookup, and the inversion needs seven (M. Hamburg, "Accelerating AES
//! with Vector Permute Instructions"). The S-box itself would need sixteen.

use std::arch::wasm32::*;
use std::hint::black_box;

use super::tower::{self, Substitution};
use super::{Column, Rounds, define_functions};

define_functions!(Simd128::new());

#[derive(Clone, Copy)]
pub(super) struct Simd128 {
    /// Zero, hidden from the compiler. It would turn a comparison with zero into a shift of bytes,
    /// for which x86-64 has no instruction.
    zero: v128,
    /// The positions for swizzles that rotate columns by one byte and by two, and that shift rows. They are hidden from
    /// V8: it makes a swizzle with constant positions a shuffle, and rebuilds the positions of shuffles each time.
    rotated: [v128; 2],
    shifted: v128,
    shifted_back: v128,
    /// Tables, hidden too: V8 would rebuild each constant at every use.
    nibble: v128,
    polynomial: v128,
    a_over: v128,
    one_over: v128,
    forward: Tables,
    inverse: Tables,
}

/// The tables of a [`Substitution`].
#[derive(Clone, Copy)]
struct Tables {
    low: v128,
    high: v128,
    from_p: v128,
    from_q: v128,
    before: v128,
    after: v128,
}

impl Tables {
    fn new(substitution: &Substitution) -> Tables {
        let &Substitution { low, high, before, from_p, from_q, after } = substitution;
        let [low, high, from_p, from_q] = [low, high, from_p, from_q].map(|table| vector(&table));
        let [before, after] = [before, after].map(|byte| u8x16_splat(byte));
        Tables { low, high, from_p, from_q, before, after }
    }
}

impl Simd128 {
    fn new() -> Simd128 {
        Simd128 {
            zero: black_box(u8x16_splat(0)),
            rotated: black_box([rotated_columns(1), rotated_columns(2)]),
            shifted: black_box(u8x16(0, 5, 10, 15, 4, 9, 14, 3, 8, 13, 2, 7, 12, 1, 6, 11)),
            shifted_back: black_box(u8x16(0, 13, 10, 7, 4, 1, 14, 11, 8, 5, 2, 15, 12, 9, 6, 3)),
            nibble: black_box(u8x16_splat(0x0f)),
            polynomial: black_box(u8x16_splat(0x1b)),
            a_over: black_box(vector(&tower::A_OVER)),
            one_over: black_box(vector(&tower::ONE_OVER)),
            forward: black_box(Tables::new(&tower::FORWARD)),
            inverse: black_box(Tables::new(&tower::INVERSE)),
        }
    }

    /// Returns the S-box, or its inverse, of each byte.
    #[inline(always)]
    fn substitute(self, tables: &Tables, bytes: v128) -> v128 {
        let nibbles =
            |bytes| (v128_and(bytes, self.nibble), v128_and(u16x8_shr(bytes, 4), self.nibble));
        let (low, high) = nibbles(bytes);
        let pair = v128_xor(u8x16_swizzle(tables.low, low), u8x16_swizzle(tables.high, high));
        let (k, i) = nibbles(v128_xor(pair, tables.before));
        let j = v128_xor(i, k);
        let quotient = u8x16_swizzle(self.a_over, k);
        let invert = |index| u8x16_swizzle(self.one_over, index);
        let p = v128_xor(invert(v128_xor(invert(i), quotient)), j);
        let q = v128_xor(invert(v128_xor(invert(j), quotient)), i);
        let result = v128_xor(u8x16_swizzle(tables.from_p, p), u8x16_swizzle(tables.from_q, q));
        v128_xor(result, tables.after)
    }

    /// Multiplies each byte by x in GF(2^8).
    #[inline(always)]
    fn double(self, a: v128) -> v128 {
        let carry = v128_and(i8x16_lt(a, self.zero), self.polynomial);
        v128_xor(u8x16_add(a, a), carry)
    }

    /// Computes MixColumns: 2a + 3b + c + d = 2(a + b) + b + c + d.
    #[inline(always)]
    fn mix_columns(self, a: v128) -> v128 {
        let [by_one, by_two] = self.rotated;
        let b = u8x16_swizzle(a, by_one);
        let sum = v128_xor(a, b);
        let c_and_d = u8x16_swizzle(sum, by_two);
        v128_xor(self.double(sum), v128_xor(b, c_and_d))
    }

    /// Computes the inverse of MixColumns, whose matrix is (2 3 1 1) times (5 0 4 0): a + 4(a + c),
    /// then MixColumns.
    #[inline(always)]
    fn inverse_mix_columns(self, a: v128) -> v128 {
        let c = u8x16_swizzle(a, self.rotated[1]);
        self.mix_columns(v128_xor(a, self.double(self.double(v128_xor(a, c)))))
    }
}

impl Rounds for Simd128 {
    type Block = v128;

    #[inline(always)]
    fn load(self, column: &Column) -> v128 {
        vector(column)
    }

    #[inline(always)]
    fn store(self, block: v128) -> Column {
        bytemuck::must_cast([u64x2_extract_lane::<0>(block), u64x2_extract_lane::<1>(block)])
    }

    #[inline(always)]
    fn encrypt(self, block: v128, key: v128) -> v128 {
        let rows = u8x16_swizzle(block, self.shifted);
        v128_xor(self.mix_columns(self.substitute(&self.forward, rows)), key)
    }

    #[inline(always)]
    fn decrypt(self, block: v128, key: v128) -> v128 {
        let rows = u8x16_swizzle(block, self.shifted_back);
        v128_xor(self.inverse_mix_columns(self.substitute(&self.inverse, rows)), key)
    }
}

#[inline(always)]
fn vector(bytes: &[u8; 16]) -> v128 {
    let [low, high]: [u64; 2] = bytemuck::must_cast(*bytes);
    u64x2(low, high)
}

/// Returns the positions for a swizzle that rotates columns by `bytes`.
#[inline(always)]
const fn rotated_columns(bytes: u8) -> v128 {
    const fn at(to: u8, bytes: u8) -> u8 {
        (to & 12) | ((to + bytes) & 3)
    }
    let b = bytes;
    u8x16(
        at(0, b),
        at(1, b),
        at(2, b),
        at(3, b),
        at(4, b),
        at(5, b),
        at(6, b),
        at(7, b),
        at(8, b),
        at(9, b),
        at(10, b),
        at(11, b),
        at(12, b),
        at(13, b),
        at(14, b),
        at(15, b),
    )
}
