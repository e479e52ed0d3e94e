//! The memory fill of Argon2d (RFC 9106; specification 7.1) as a module. It fills the cache in place,
//! step by step, as [`crate::argon2d`] does.
//!
//! The module exports `fill(first: i32, count: i32)`, which performs `count` of the
//! [`FILL_BLOCKS`](crate::argon2d::FILL_BLOCKS) steps, from `first` on. `first` is at least 2, `count` at least 1.
//! The host writes the blocks of steps 0 and 1, [`first_blocks`](crate::argon2d::first_blocks). Engines optimise code
//! while it runs, and use the optimised code from the next call on, so the first calls should be short: a hundred steps. No worker may use the slots during a fill; the first slot holds a block.

use super::Features;
use super::assembler::{Body, Local, Type};
use super::cache_memory::{self, slot};
use super::module::Module;
use crate::params::ARGON_MEMORY;

mod permutation;

use permutation::Permutation;

/// Returns the module.
pub fn module(features: Features) -> Vec<u8> {
    let mut module = Module::new();
    cache_memory::import(&mut module, features);
    let fill = module.function(&[Type::I32, Type::I32], &[], &fill());
    module.export("fill", fill);
    module.finish()
}

/// The binary logarithm of a block's size in bytes.
const BLOCK: i32 = 10;

const LINE: u32 = 64;
const LINES: u32 = (1 << BLOCK) / LINE;

/// The size of a vector in bytes: a pair of words.
const PAIR: u32 = 16;

/// The size of a row in bytes. A block is 8 rows of 8 pairs.
const ROW: u32 = 8 * PAIR;

/// The binary logarithm of the number of blocks in a slice, a quarter of a pass.
const SLICE: i32 = (ARGON_MEMORY / 4).ilog2() as i32;

/// The address of a temporary block: it holds a block between the mixing of its rows and of its
/// columns.
const ROWS: u32 = slot(0);

/// The variables of a step. Addresses are those of blocks.
struct Step {
    /// The number of the step, over all passes.
    number: Local,
    previous: Local,
    reference: Local,
    current: Local,
    next_number: Local,
    next_reference: Local,
    /// The offset of a row or column in a block.
    offset: Local,
    /// Addresses of that row or column in different blocks.
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
    /// Pushes the address of the reference block of step `number`. The low word of the block at
    /// `previous` selects it from the reference area (RFC 9106, 3.4.2).
    fn find_reference(&self, b: &mut Body, number: Local, previous: Local) {
        b.local_get(number);
        b.i32_const(2);
        b.i32_sub();
        // The size of the reference area. In the first pass it is all blocks before the previous
        // one, later also those of the last pass, without the rest of the current slice.
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

    /// Emits the mixing of the rows of the XOR of the previous block and the reference. The current
    /// block becomes that XOR, from the second pass on XORed with its old value; the mixed columns
    /// are XORed into it later.
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
            xor_into(b, current, pairs());
            b.end();
            self.permutation.write(b);
            for (at, pair) in pairs() {
                b.local_get(self.offset);
                b.local_get(pair);
                b.v128_store(ROWS + at);
            }
        });
    }

    /// Emits the mixing of the columns, XORed into the current block.
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
            xor_into(b, current, pairs());
            b.local_get(self.offset);
            b.i32_eqz();
            b.if_();
            self.fetch_next(b);
            b.end();
        });
    }

    /// Emits reads of the next reference, which the first column selects, and of the block that the
    /// next step replaces. All their lines are read here, so that they arrive together while the
    /// other columns are mixed. This saves a fifth of the time of a fill.
    ///
    /// In the first pass the block that the next step writes is not read. Its page may be new: a read
    /// would make the kernel map its page of zeros there. The write would then cause a second fault,
    /// and a flush of that page from the other processors' TLBs.
    fn fetch_next(&self, b: &mut Body) {
        self.find_reference(b, self.next_number, self.current);
        b.local_set(self.next_reference);
        read_lines(b, self.next_reference, 0);
        b.local_get(self.number);
        b.i32_const(ARGON_MEMORY as i32);
        b.i32_lt_u();
        b.i32_eqz();
        b.if_();
        // After the last block of a pass, the block that follows in memory is in the slots. Reading
        // it is harmless.
        read_lines(b, self.current, 1 << BLOCK);
        b.end();
    }

    /// Emits a loop of `count` turns, with `offset` growing by `stride`.
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

/// Reads a word of each line of a block.
fn read_lines(b: &mut Body, block: Local, at: u32) {
    for line in 0..LINES {
        b.local_get(block);
        b.i64_load(at + line * LINE);
        b.drop_();
    }
}

/// XORs vectors into their places in a block.
fn xor_into(b: &mut Body, block: Local, pairs: impl Iterator<Item = (u32, Local)>) {
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
