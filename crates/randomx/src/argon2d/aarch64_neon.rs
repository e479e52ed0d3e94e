//! Argon2 compression with NEON, one row at a time.

use std::arch::aarch64::*;

use super::compress::define_write_blocks;

define_write_blocks!(uint64x2_t);

/// Defines safe functions from expressions over NEON intrinsics.
macro_rules! neon {
    ($($function:ident($($argument:ident),*) = $expression:expr;)*) => {
        $(
            #[inline(always)]
            fn $function($($argument: uint64x2_t),*) -> uint64x2_t {
                // SAFETY: the intrinsics are pure, and NEON is part of Rust's targets for AArch64.
                unsafe { $expression }
            }
        )*
    };
}

neon! {
    add(a, b) = vaddq_u64(a, b);
    xor(a, b) = veorq_u64(a, b);
    double_product(a, b) = {
        let product = vmull_u32(vmovn_u64(a), vmovn_u64(b));
        vaddq_u64(product, product)
    };
    rotate_32(a) = vreinterpretq_u64_u32(vrev64q_u32(vreinterpretq_u32_u64(a)));
    rotate_63(a) = vsriq_n_u64::<63>(vaddq_u64(a, a), a);
    shift_in(low, high) = vextq_u64::<1>(low, high);
}

/// Rust has no stable prefetch for this processor.
fn prefetch(_: &super::Block) {}

#[inline(always)]
fn rotate_24(a: uint64x2_t) -> uint64x2_t {
    shuffle(a, [3, 4, 5, 6, 7, 0, 1, 2, 11, 12, 13, 14, 15, 8, 9, 10])
}

#[inline(always)]
fn rotate_16(a: uint64x2_t) -> uint64x2_t {
    shuffle(a, [2, 3, 4, 5, 6, 7, 0, 1, 10, 11, 12, 13, 14, 15, 8, 9])
}

#[inline(always)]
fn load(pair: [u64; 2]) -> uint64x2_t {
    bytemuck::must_cast(pair)
}

#[inline(always)]
fn store(vector: uint64x2_t) -> [u64; 2] {
    bytemuck::must_cast(vector)
}

/// Returns the bytes of `a` at `positions`.
#[inline(always)]
fn shuffle(a: uint64x2_t, positions: [u8; 16]) -> uint64x2_t {
    // SAFETY: as above.
    unsafe {
        vreinterpretq_u64_u8(vqtbl1q_u8(vreinterpretq_u8_u64(a), bytemuck::must_cast(positions)))
    }
}
