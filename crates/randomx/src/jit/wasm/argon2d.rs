//! The memory fill of Argon2d (RFC 9106; specification 7.1) as a module of its own: it writes the
//! cache where it stays, step by step, as [`crate::argon2d`] does.
//!
//! The module exports `fill(first: i32, count: i32)`, which makes `count` of the
//! [`FILL_BLOCKS`](crate::argon2d::FILL_BLOCKS) steps from `first` on. Steps 0 and 1 are not for it:
//! these blocks are [`first_blocks`](crate::argon2d::first_blocks). An engine that compiles better while
//! code runs takes better code at the next call, so calls should be short: a hundred steps at
//! first. Nobody may use the slots in the meantime; the first one holds a block.

use super::Features;
use super::assembler::{Body, Local, Type};
use super::cache_memory::{self, slot};
use super::module::Module;
use crate::params::ARGON_MEMORY;

mod permutation;

use permutation::Permutation;

/// The bytes of the module.
pub fn module(features: Features) -> Vec<u8> {
    let mut module = Module::new();
    cache_memory::import(&mut module, features);
    let fill = module.function(&[Type::I32, Type::I32], &[], &fill());
    module.export("fill", fill);
    module.finish()
}

/// Bytes of a block, as an exponent.
const BLOCK: i32 = 10;

const LINE: u32 = 64;
const LINES: u32 = (1 << BLOCK) / LINE;

/// A vector is a pair of words.
const PAIR: u32 = 16;

/// A block is 8 rows of 8 pairs.
const ROW: u32 = 8 * PAIR;

/// Blocks in a quarter of a pass, as an exponent.
const SLICE: i32 = (ARGON_MEMORY / 4).ilog2() as i32;

/// A block's rows are mixed into this one, then its columns into the cache.
const ROWS: u32 = slot(0);

/// What all steps work with. Addresses are those of blocks.
struct Step {
    /// Its number over all passes.
    number: Local,
    previous: Local,
    reference: Local,
    current: Local,
    next_number: Local,
    next_reference: Local,
    /// Of a row or of a column in a block.
    offset: Local,
    /// The offset in one block and another.
    addresses: [Local; 3],
    permutation: Permutation,
}

fn fill() -> Body {
    let mut body = Body::new(2);
    let (number, count) = (body.parameter(0), body.parameter(1));
    let b = &mut body;
    let step = Step {
        number,
        previous: b.local(Type::I32),
        reference: b.local(Type::I32),
        current: b.local(Type::I32),
        next_number: b.local(Type::I32),
        next_reference: b.local(Type::I32),
        offset: b.local(Type::I32),
        addresses: b.locals(Type::I32),
        permutation: Permutation::new(b),
    };
    let end = count;
    b.local_get(number);
    b.local_get(count);
    b.i32_add();
    b.local_set(end);
    b.local_get(number);
    b.i32_const(1);
    b.i32_sub();
    block_address(b);
    b.local_set(step.previous);
    step.find_reference(b, number, step.previous);
    b.local_set(step.reference);

    b.loop_();
    b.local_get(number);
    block_address(b);
    b.local_set(step.current);
    b.local_get(number);
    b.i32_const(1);
    b.i32_add();
    b.local_set(step.next_number);
    step.mix_rows(b);
    step.mix_columns(b);
    for (from, to) in [
        (step.current, step.previous),
        (step.next_reference, step.reference),
        (step.next_number, number),
    ] {
        b.local_get(from);
        b.local_set(to);
    }
    b.local_get(number);
    b.local_get(end);
    b.i32_ne();
    b.br_if(0);
    b.end();
    body
}

impl Step {
    /// The address of the block that step `number` mixes the one at `previous` with, chosen by its
    /// low word (RFC 9106, 3.4.2): at most as many blocks before the previous one as are in reach.
    fn find_reference(&self, b: &mut Body, number: Local, previous: Local) {
        b.local_get(number);
        b.i32_const(2);
        b.i32_sub();
        // In the first pass all blocks before the previous one are in reach, later also
        // those of the last pass, without the rest of this slice.
        b.local_get(number);
        b.i32_const(1);
        b.i32_sub();
        b.local_get(number);
        b.i32_const((1 << SLICE) - 1);
        b.i32_and();
        b.i32_const((3 << SLICE) - 1);
        b.i32_add();
        b.local_get(number);
        b.i32_const(ARGON_MEMORY as i32);
        b.i32_lt_u();
        b.select();
        b.i64_extend_i32_u();
        for _ in 0..2 {
            b.local_get(previous);
            b.i64_load32_u(0);
        }
        for _ in 0..2 {
            b.i64_mul();
            b.i64_const(32);
            b.i64_shr_u();
        }
        b.i32_wrap_i64();
        b.i32_sub();
        block_address(b);
    }

    /// Mixes the previous block and the reference, row by row, and leaves in the current block what
    /// will be mixed into the result: their sum, from the second pass on with what was there.
    fn mix_rows(&self, b: &mut Body) {
        let [previous, reference, current] = self.addresses;
        let pairs = || (0..).step_by(PAIR as usize).zip(self.permutation.pairs);
        self.repeat(b, 8, ROW, |b| {
            self.add_offset(b, self.previous, previous);
            self.add_offset(b, self.reference, reference);
            self.add_offset(b, self.current, current);
            for (at, pair) in pairs() {
                b.local_get(previous);
                b.v128_load(at);
                b.local_get(reference);
                b.v128_load(at);
                b.v128_xor();
                b.local_set(pair);
            }
            b.local_get(self.number);
            b.i32_const(ARGON_MEMORY as i32);
            b.i32_lt_u();
            b.if_();
            for (at, pair) in pairs() {
                b.local_get(current);
                b.local_get(pair);
                b.v128_store(at);
            }
            b.else_();
            add_to(b, current, pairs());
            b.end();
            self.permutation.write(b);
            for (at, pair) in pairs() {
                b.local_get(self.offset);
                b.local_get(pair);
                b.v128_store(ROWS + at);
            }
        });
    }

    /// Mixes the columns and adds them to the current block.
    fn mix_columns(&self, b: &mut Body) {
        let [current, ..] = self.addresses;
        let pairs = || (0..).step_by(ROW as usize).zip(self.permutation.pairs);
        self.repeat(b, 8, PAIR, |b| {
            for (at, pair) in pairs() {
                b.local_get(self.offset);
                b.v128_load(ROWS + at);
                b.local_set(pair);
            }
            self.permutation.write(b);
            self.add_offset(b, self.current, current);
            add_to(b, current, pairs());
            b.local_get(self.offset);
            b.i32_eqz();
            b.if_();
            self.fetch_next(b);
            b.end();
        });
    }

    /// The first column has the word that chooses the next reference. Its lines are read at
    /// once, so that they come together and while the other columns are mixed; the same for
    /// the block that will be replaced. This takes a fifth off the time of a fill.
    fn fetch_next(&self, b: &mut Body) {
        self.find_reference(b, self.next_number, self.current);
        b.local_set(self.next_reference);
        // After the last block of a pass these are the slots, and its next block is near.
        for (block, at) in [(self.next_reference, 0), (self.current, 1 << BLOCK)] {
            for line in 0..LINES {
                b.local_get(block);
                b.i64_load(at + line * LINE);
                b.drop_();
            }
        }
    }

    /// A loop of `count` turns in which `offset` grows by `stride`.
    fn repeat(&self, b: &mut Body, count: u32, stride: u32, turn: impl FnOnce(&mut Body)) {
        b.i32_const(0);
        b.local_set(self.offset);
        b.loop_();
        turn(b);
        b.local_get(self.offset);
        b.i32_const(stride as i32);
        b.i32_add();
        b.local_tee(self.offset);
        b.i32_const((count * stride) as i32);
        b.i32_lt_u();
        b.br_if(0);
        b.end();
    }

    fn add_offset(&self, b: &mut Body, block: Local, sum: Local) {
        b.local_get(block);
        b.local_get(self.offset);
        b.i32_add();
        b.local_set(sum);
    }
}

/// Replaces the number of a block, over all passes, by its address.
fn block_address(b: &mut Body) {
    b.i32_const(ARGON_MEMORY as i32 - 1);
    b.i32_and();
    b.i32_const(BLOCK);
    b.i32_shl();
}

/// Adds vectors, in the sense of Argon2, to where they belong in a block.
fn add_to(b: &mut Body, block: Local, pairs: impl Iterator<Item = (u32, Local)>) {
    for (at, pair) in pairs {
        b.local_get(block);
        b.local_get(pair);
        b.local_get(block);
        b.v128_load(at);
        b.v128_xor();
        b.v128_store(at);
    }
}

#[cfg(test)]
mod tests;
