//! AES rounds by WebAssembly SIMD: the S-box as sixteen 16-byte tables, looked up by swizzle.

use std::arch::wasm32::*;

use super::soft::{INVERSE_SBOX, SBOX};
use super::{Column, Rounds, define_functions};

define_functions!(Simd128);

#[derive(Clone, Copy)]
pub(super) struct Simd128;

impl Rounds for Simd128 {
    type Block = v128;

    #[inline(always)]
    fn load(self, column: &Column) -> v128 {
        let [low, high]: [u64; 2] = bytemuck::must_cast(*column);
        u64x2(low, high)
    }

    #[inline(always)]
    fn store(self, block: v128) -> Column {
        bytemuck::must_cast([u64x2_extract_lane::<0>(block), u64x2_extract_lane::<1>(block)])
    }

    #[inline(always)]
    fn encrypt(self, block: v128, key: v128) -> v128 {
        let rows =
            u8x16_shuffle::<0, 5, 10, 15, 4, 9, 14, 3, 8, 13, 2, 7, 12, 1, 6, 11>(block, block);
        v128_xor(mix_columns(substitute(&SBOX, rows)), key)
    }

    #[inline(always)]
    fn decrypt(self, block: v128, key: v128) -> v128 {
        let rows =
            u8x16_shuffle::<0, 13, 10, 7, 4, 1, 14, 11, 8, 5, 2, 15, 12, 9, 6, 3>(block, block);
        v128_xor(inverse_mix_columns(substitute(&INVERSE_SBOX, rows)), key)
    }
}

/// Each byte of `indices` replaced by its entry in `table`.
#[inline(always)]
fn substitute(table: &[u8; 256], indices: v128) -> v128 {
    let mut result = u8x16_splat(0);
    let mut remaining = indices;
    for part in table.as_chunks::<16>().0 {
        // A swizzle gives zero for every index outside its 16 bytes.
        let entries = Simd128.load(part);
        result = v128_or(result, u8x16_swizzle(entries, remaining));
        remaining = u8x16_sub(remaining, u8x16_splat(16));
    }
    result
}

/// Each byte times x in GF(2^8).
#[inline(always)]
fn double(a: v128) -> v128 {
    let carry = v128_and(i8x16_shr(a, 7), u8x16_splat(0x1b));
    v128_xor(u8x16_add(a, a), carry)
}

/// Each column (2 3 1 1) rotated: 2a + 3b + c + d = 2(a + b) + b + c + d.
#[inline(always)]
fn mix_columns(a: v128) -> v128 {
    let b = u8x16_shuffle::<1, 2, 3, 0, 5, 6, 7, 4, 9, 10, 11, 8, 13, 14, 15, 12>(a, a);
    let c_and_d = {
        let sum = v128_xor(a, b);
        u8x16_shuffle::<2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13>(sum, sum)
    };
    v128_xor(double(v128_xor(a, b)), v128_xor(b, c_and_d))
}

/// The inverse matrix is (2 3 1 1) times (5 0 4 0): a + 4(a + c), then MixColumns.
#[inline(always)]
fn inverse_mix_columns(a: v128) -> v128 {
    let c = u8x16_shuffle::<2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13>(a, a);
    mix_columns(v128_xor(a, double(double(v128_xor(a, c)))))
}
