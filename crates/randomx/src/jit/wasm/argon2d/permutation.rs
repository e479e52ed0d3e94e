//! The permutation P of Argon2d (RFC 9106, 3.6), of 16 words in 8 vectors.
//!
//! It is written for V8 on x86-64, where the vector ports limit it, above all those for shuffles:
//!
//! - The products of low halves are computed for two vectors at once. One instruction packs the low
//!   halves of both into one vector, and V8's extended multiplications unpack them with two. One
//!   vector at a time would take one more.
//! - The control of a swizzle is a local variable and stays in a register. V8 builds the control of a
//!   shuffle each time, with four instructions, unless it has a shorter form of that shuffle, as for
//!   rotations by 32.

use crate::jit::wasm::assembler::{Body, Local, Type};

/// The local variables of P.
pub(super) struct Permutation {
    /// The 16 words, two in a vector.
    pub(super) pairs: [Local; 8],
    spare: [Local; 2],
    low_halves: [Local; 2],
    rotation_by_24: Local,
    rotation_by_16: Local,
}

/// A row of the 4 x 4 matrix of words.
type Row = [Local; 2];

impl Permutation {
    /// Declares the local variables, and emits their initialisation.
    pub(super) fn new(b: &mut Body) -> Permutation {
        let permutation = Permutation {
            pairs: b.locals(Type::V128),
            spare: b.locals(Type::V128),
            low_halves: b.locals(Type::V128),
            rotation_by_24: b.local(Type::V128),
            rotation_by_16: b.local(Type::V128),
        };
        for (bytes, local) in [(3, permutation.rotation_by_24), (2, permutation.rotation_by_16)] {
            b.v128_const(u128::from_le_bytes(rotation(bytes)));
            b.local_set(local);
        }
        permutation
    }

    /// Emits P of `pairs`.
    pub(super) fn write(&self, b: &mut Body) {
        let [a0, a1, b0, b1, c0, c1, d0, d1] = self.pairs;
        self.mix(b, [[a0, a1], [b0, b1], [c0, c1], [d0, d1]]);
        // Rotates rows so that diagonals become columns, and back.
        self.turn_left(b, [b0, b1]);
        self.turn_right(b, [d0, d1]);
        self.mix(b, [[a0, a1], [b0, b1], [c1, c0], [d0, d1]]);
        self.turn_right(b, [b0, b1]);
        self.turn_left(b, [d0, d1]);
    }

    /// Emits four quarter rounds side by side.
    pub(super) fn mix(&self, body: &mut Body, [a, b, c, d]: [Row; 4]) {
        self.add_with_product(body, a, b);
        self.xor_and_rotate(body, d, a, Self::rotate_by_32);
        self.add_with_product(body, c, d);
        self.xor_and_rotate(body, b, c, Self::rotate_by_24);
        self.add_with_product(body, a, b);
        self.xor_and_rotate(body, d, a, Self::rotate_by_16);
        self.add_with_product(body, c, d);
        self.xor_and_rotate(body, b, c, Self::rotate_by_63);
    }

    /// Emits `a += b + 2 * low(a) * low(b)` in each word.
    fn add_with_product(&self, body: &mut Body, a: Row, b: Row) {
        for (halves, of) in self.low_halves.into_iter().zip([a, b]) {
            body.local_get(of[0]);
            body.local_get(of[1]);
            body.i8x16_shuffle(LOW_HALVES);
            body.local_set(halves);
        }
        let multiply = [Body::i64x2_extmul_low_i32x4_u, Body::i64x2_extmul_high_i32x4_u];
        for (product, multiply) in self.spare.into_iter().zip(multiply) {
            body.local_get(self.low_halves[0]);
            body.local_get(self.low_halves[1]);
            multiply(body);
            body.local_set(product);
        }
        for ((a, b), product) in a.into_iter().zip(b).zip(self.spare) {
            body.local_get(a);
            body.local_get(b);
            body.i64x2_add();
            body.local_get(product);
            body.local_get(product);
            body.i64x2_add();
            body.i64x2_add();
            body.local_set(a);
        }
    }

    /// Emits `a = rotate(a ^ b)`, where `rotate` replaces the vector on the stack.
    fn xor_and_rotate(&self, body: &mut Body, a: Row, b: Row, rotate: fn(&Self, &mut Body)) {
        for (a, b) in a.into_iter().zip(b) {
            body.local_get(a);
            body.local_get(b);
            body.v128_xor();
            rotate(self, body);
            body.local_set(a);
        }
    }

    fn rotate_by_32(&self, body: &mut Body) {
        body.local_tee(self.spare[0]);
        body.local_get(self.spare[0]);
        body.i8x16_shuffle(rotation(4));
    }

    fn rotate_by_24(&self, body: &mut Body) {
        body.local_get(self.rotation_by_24);
        body.i8x16_swizzle();
    }

    fn rotate_by_16(&self, body: &mut Body) {
        body.local_get(self.rotation_by_16);
        body.i8x16_swizzle();
    }

    fn rotate_by_63(&self, body: &mut Body) {
        let [spare, _] = self.spare;
        body.local_tee(spare);
        body.local_get(spare);
        body.i64x2_add();
        body.local_get(spare);
        body.i32_const(63);
        body.i64x2_shr_u();
        body.v128_or();
    }

    /// Emits the rotation of a row of four words by one: the first becomes the last.
    fn turn_left(&self, body: &mut Body, row: Row) {
        self.turn(body, row, row);
    }

    /// Emits the inverse of [`turn_left`](Self::turn_left).
    fn turn_right(&self, body: &mut Body, [low, high]: Row) {
        self.turn(body, [low, high], [high, low]);
    }

    fn turn(&self, body: &mut Body, [low, high]: Row, from: Row) {
        let [spare, _] = self.spare;
        for (a, b, to) in [(from[0], from[1], spare), (from[1], from[0], high)] {
            body.local_get(a);
            body.local_get(b);
            body.i8x16_shuffle(MIDDLE);
            body.local_set(to);
        }
        body.local_get(spare);
        body.local_set(low);
    }
}

/// Selects the low halves of the words of two vectors.
const LOW_HALVES: [u8; 16] = [0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27];

/// Selects the upper word of one vector and the lower word of another.
const MIDDLE: [u8; 16] = [8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23];

/// Selects the bytes of two words, both rotated right by `bytes`.
fn rotation(bytes: u8) -> [u8; 16] {
    std::array::from_fn(|at| (at as u8 & 8) | (at as u8 + bytes) & 7)
}
