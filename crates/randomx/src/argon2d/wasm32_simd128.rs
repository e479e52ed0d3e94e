//! Argon2 compression with WebAssembly SIMD, one row at a time.

use std::arch::wasm32::*;

use super::compress::define_write_blocks;

define_write_blocks!(v128);

/// WebAssembly has no prefetch.
fn prefetch(_: &super::Block) {}

fn load(pair: [u64; 2]) -> v128 {
    u64x2(pair[0], pair[1])
}

fn store(vector: v128) -> [u64; 2] {
    [u64x2_extract_lane::<0>(vector), u64x2_extract_lane::<1>(vector)]
}

fn add(a: v128, b: v128) -> v128 {
    u64x2_add(a, b)
}

fn xor(a: v128, b: v128) -> v128 {
    v128_xor(a, b)
}

fn double_product(a: v128, b: v128) -> v128 {
    let low_halves = |v: v128| u32x4_shuffle::<0, 2, 0, 2>(v, v);
    let product = u64x2_extmul_low_u32x4(low_halves(a), low_halves(b));
    u64x2_add(product, product)
}

fn rotate_32(a: v128) -> v128 {
    u32x4_shuffle::<1, 0, 3, 2>(a, a)
}

fn rotate_24(a: v128) -> v128 {
    u8x16_shuffle::<3, 4, 5, 6, 7, 0, 1, 2, 11, 12, 13, 14, 15, 8, 9, 10>(a, a)
}

fn rotate_16(a: v128) -> v128 {
    u8x16_shuffle::<2, 3, 4, 5, 6, 7, 0, 1, 10, 11, 12, 13, 14, 15, 8, 9>(a, a)
}

fn rotate_63(a: v128) -> v128 {
    v128_or(u64x2_add(a, a), u64x2_shr(a, 63))
}

fn shift_in(low: v128, high: v128) -> v128 {
    u64x2_shuffle::<1, 2>(low, high)
}
