//! AES rounds with WebAssembly SIMD, which looks up 16 bytes at once in a table of 16 bytes.
//!
//! SubBytes is an inversion in GF(2^8), represented as pairs of GF(2^4). Every function of an
//! element of GF(2^4) is one lookup, and the inversion needs seven (M. Hamburg, "Accelerating AES
//! with Vector Permute Instructions"). The S-box itself would need sixteen.

use std::arch::wasm32::*;
use std::hint::black_box;

use super::tower::{self, Substitution, Table};
use super::{Column, Rounds, define_functions};

define_functions!(Simd128::new());

#[derive(Clone, Copy)]
pub(super) struct Simd128 {
    /// Zero, hidden from the compiler. It would turn a comparison with zero into a shift of bytes,
    /// for which x86-64 has no instruction.
    zero: v128,
}

impl Simd128 {
    fn new() -> Simd128 {
        Simd128 { zero: black_box(u8x16_splat(0)) }
    }

    /// Multiplies each byte by x in GF(2^8).
    #[inline(always)]
    fn double(self, a: v128) -> v128 {
        let carry = v128_and(i8x16_lt(a, self.zero), u8x16_splat(0x1b));
        v128_xor(u8x16_add(a, a), carry)
    }

    /// Computes MixColumns: 2a + 3b + c + d = 2(a + b) + b + c + d.
    #[inline(always)]
    fn mix_columns(self, a: v128) -> v128 {
        let b = u8x16_swizzle(a, rotated_columns(1));
        let sum = v128_xor(a, b);
        let c_and_d = u8x16_swizzle(sum, rotated_columns(2));
        v128_xor(self.double(sum), v128_xor(b, c_and_d))
    }

    /// Computes the inverse of MixColumns, whose matrix is (2 3 1 1) times (5 0 4 0): a + 4(a + c),
    /// then MixColumns.
    #[inline(always)]
    fn inverse_mix_columns(self, a: v128) -> v128 {
        let c = u8x16_swizzle(a, rotated_columns(2));
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
        let rows =
            u8x16_swizzle(block, u8x16(0, 5, 10, 15, 4, 9, 14, 3, 8, 13, 2, 7, 12, 1, 6, 11));
        v128_xor(self.mix_columns(substitute(&tower::FORWARD, rows)), key)
    }

    #[inline(always)]
    fn decrypt(self, block: v128, key: v128) -> v128 {
        let rows =
            u8x16_swizzle(block, u8x16(0, 13, 10, 7, 4, 1, 14, 11, 8, 5, 2, 15, 12, 9, 6, 3));
        v128_xor(self.inverse_mix_columns(substitute(&tower::INVERSE, rows)), key)
    }
}

#[inline(always)]
fn vector(bytes: &[u8; 16]) -> v128 {
    let [low, high]: [u64; 2] = bytemuck::must_cast(*bytes);
    u64x2(low, high)
}

/// Returns the S-box, or its inverse, of each byte.
#[inline(always)]
fn substitute(substitution: &Substitution, bytes: v128) -> v128 {
    let look_up = |table: &Table, index| u8x16_swizzle(vector(table), index);
    let nibbles = |bytes| {
        let low = u8x16_splat(0x0f);
        (v128_and(bytes, low), v128_and(u16x8_shr(bytes, 4), low))
    };
    let (low, high) = nibbles(bytes);
    let pair = v128_xor(look_up(&substitution.low, low), look_up(&substitution.high, high));
    let (k, i) = nibbles(v128_xor(pair, u8x16_splat(substitution.before)));
    let j = v128_xor(i, k);
    let quotient = look_up(&tower::A_OVER, k);
    let invert = |index| look_up(&tower::ONE_OVER, index);
    let p = v128_xor(invert(v128_xor(invert(i), quotient)), j);
    let q = v128_xor(invert(v128_xor(invert(j), quotient)), i);
    let result = v128_xor(look_up(&substitution.from_p, p), look_up(&substitution.from_q, q));
    v128_xor(result, u8x16_splat(substitution.after))
}

/// Returns the positions for a swizzle that rotates columns by `bytes`.
///
/// V8 keeps a swizzle's positions in a register, but rebuilds those of a shuffle each time.
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
