//! High halves of 64-bit products (specification 5.2.4 and 6.1).

use super::assembler::{Body, Local};

/// The operations that differ between signed and unsigned products.
#[derive(Clone, Copy)]
pub(super) struct Sign {
    /// Computes the whole product.
    wide: fn(&mut Body),
    /// Moves an upper half down, and extends it.
    shift: fn(&mut Body),
}

pub(super) const UNSIGNED: Sign = Sign { wide: Body::i64_mul_wide_u, shift: Body::i64_shr_u };
pub(super) const SIGNED: Sign = Sign { wide: Body::i64_mul_wide_s, shift: Body::i64_shr_s };

/// Variables for a product that is made of four 32-bit products.
#[derive(Clone, Copy)]
pub(super) struct Halves {
    /// The low halves of both factors.
    pub(super) low: [Local; 2],
    /// The high halves of both factors.
    pub(super) high: [Local; 2],
    pub(super) middle: Local,
}

/// Emits `dst = dst * src >> 64`, by `halves` if they are given, else by a wide product.
#[inline(never)]
pub(super) fn multiply(b: &mut Body, dst: Local, src: Local, sign: Sign, halves: Option<Halves>) {
    let Some(Halves { low, high, middle }) = halves else {
        b.local_get(dst);
        b.local_get(src);
        (sign.wide)(b);
        b.local_set(dst);
        b.drop_();
        return;
    };
    for (index, factor) in [dst, src].into_iter().enumerate() {
        b.local_get(factor);
        low_half(b);
        b.local_set(low[index]);
        b.local_get(factor);
        high_half(b, sign.shift);
        b.local_set(high[index]);
    }
    // No sum exceeds 64 bits: a product of halves plus two more halves fits.
    product(b, high[0], low[1]);
    product(b, low[0], low[1]);
    high_half(b, Body::i64_shr_u);
    b.i64_add();
    b.local_set(middle);

    product(b, high[0], high[1]);
    b.local_get(middle);
    high_half(b, sign.shift);
    b.i64_add();
    product(b, low[0], high[1]);
    b.local_get(middle);
    low_half(b);
    b.i64_add();
    high_half(b, sign.shift);
    b.i64_add();
    b.local_set(dst);
}

fn product(b: &mut Body, one: Local, other: Local) {
    b.local_get(one);
    b.local_get(other);
    b.i64_mul();
}

fn low_half(b: &mut Body) {
    b.i32_wrap_i64();
    b.i64_extend_i32_u();
}

fn high_half(b: &mut Body, shift: fn(&mut Body)) {
    b.i64_const(32);
    shift(b);
}
