//! Argon2 compression in plain Rust, one row at a time, the oracle for the other implementations.

use super::compress::define_write_blocks;

type Pair = [u64; 2];

define_write_blocks!(Pair);

/// There is no portable prefetch.
fn prefetch(_: &super::Block) {}

fn load(pair: [u64; 2]) -> Pair {
    pair
}

fn store(pair: Pair) -> [u64; 2] {
    pair
}

fn add(a: Pair, b: Pair) -> Pair {
    [a[0].wrapping_add(b[0]), a[1].wrapping_add(b[1])]
}

fn xor(a: Pair, b: Pair) -> Pair {
    [a[0] ^ b[0], a[1] ^ b[1]]
}

fn double_product(a: Pair, b: Pair) -> Pair {
    let product = |a: u64, b: u64| ((a & 0xffff_ffff) * (b & 0xffff_ffff)) << 1;
    [product(a[0], b[0]), product(a[1], b[1])]
}

fn rotate_32(a: Pair) -> Pair {
    a.map(|word| word.rotate_right(32))
}

fn rotate_24(a: Pair) -> Pair {
    a.map(|word| word.rotate_right(24))
}

fn rotate_16(a: Pair) -> Pair {
    a.map(|word| word.rotate_right(16))
}

fn rotate_63(a: Pair) -> Pair {
    a.map(|word| word.rotate_right(63))
}

fn shift_in(low: Pair, high: Pair) -> Pair {
    [low[1], high[0]]
}
