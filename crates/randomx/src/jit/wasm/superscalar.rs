//! SuperscalarHash (specification 6 and 7.3) as a WebAssembly module, for the functions of one key.
//!
//! The module works in the memory of the cache, where each worker has a slot for the items that it
//! is computing. Each of the key's functions is a loop over these items, with the registers in local
//! variables. Another loop runs before it and reads a word of each item's cache line. WebAssembly
//! cannot prefetch, but the processor waits for all of these lines at once, and for none of them
//! later. Without that loop items take three times as long.

mod arithmetic;
mod function;
#[cfg(test)]
mod tests;

use super::Features;
use super::assembler::{Body, Local, Type};
use super::cache_memory::{self, SLOT_SIZE};
use super::module::Module;
use crate::params::{CACHE_ACCESSES, CACHE_SIZE};
use crate::superscalar::{ITEM_CONSTANTS, ITEM_MULTIPLIER, Item, Program};

/// The most items in a slot.
pub const MAX_BATCH: u32 = 24;

/// The offset in a slot of each item's next line, given as an offset in the cache. The registers
/// come before.
const LINES: u32 = MAX_BATCH * ITEM;

/// The offset in a slot of the sum of the words that were read early.
const READ: u32 = LINES + 4 * MAX_BATCH;

/// The size of an item, and of a line of the cache, in bytes.
const ITEM: u32 = size_of::<Item>() as u32;

const _: () = assert!(READ + 4 <= SLOT_SIZE as u32);

/// Returns the module for the functions of a key. It imports the memory of the cache and exports
///
/// - `start(slot: i32, lane: i32, number: i32)`: initialises item `number` in a lane of the slot;
/// - `compute(slot: i32, count: i32)`: computes the items in the first `count` lanes of the slot, 1
///   to [`MAX_BATCH`], all started before;
/// - `item(slot: i32, lane: i32) -> (i64, i64, i64, i64, i64, i64, i64, i64)`: returns an item.
pub fn module(programs: &[Program; CACHE_ACCESSES], features: Features) -> Vec<u8> {
    let mut module = Module::new();
    cache_memory::import(&mut module, features);

    let mut compute = Body::new(2);
    let (slot, count) = (compute.parameter(0), compute.parameter(1));
    for program in programs {
        let body = function::body(program, features);
        let function = module.function(&[Type::I32; 2], &[], &body);
        compute.local_get(slot);
        compute.local_get(count);
        compute.call(function);
    }
    let compute = module.function(&[Type::I32; 2], &[], &compute);
    let start = module.function(&[Type::I32; 3], &[], &start());
    let item = module.function(&[Type::I32; 2], &[Type::I64; 8], &item());
    module.export("start", start);
    module.export("compute", compute);
    module.export("item", item);
    module.finish()
}

fn start() -> Body {
    let mut body = Body::new(3);
    let [slot, lane, number] = [0, 1, 2].map(|index| body.parameter(index));
    let r0 = body.local(Type::I64);
    lane_address(&mut body, slot, lane, 4);
    body.local_get(number);
    line(&mut body);
    body.i32_store(LINES);

    lane_address(&mut body, slot, lane, ITEM);
    body.local_set(slot);
    body.local_get(number);
    body.i64_extend_i32_u();
    body.i64_const(1);
    body.i64_add();
    body.i64_const(ITEM_MULTIPLIER as i64);
    body.i64_mul();
    body.local_set(r0);
    for (register, constant) in ITEM_CONSTANTS.into_iter().enumerate() {
        body.local_get(slot);
        body.local_get(r0);
        if constant != 0 {
            body.i64_const(constant as i64);
            body.i64_xor();
        }
        body.i64_store(word(register));
    }
    body
}

fn item() -> Body {
    let mut body = Body::new(2);
    let (slot, lane) = (body.parameter(0), body.parameter(1));
    lane_address(&mut body, slot, lane, ITEM);
    body.local_set(slot);
    for register in 0..8 {
        body.local_get(slot);
        body.i64_load(word(register));
    }
    body
}

/// Pushes the address of a lane's element, in an array with `size` bytes a lane.
fn lane_address(body: &mut Body, slot: Local, lane: Local, size: u32) {
    body.local_get(slot);
    body.local_get(lane);
    body.i32_const(size.ilog2() as i32);
    body.i32_shl();
    body.i32_add();
}

/// Replaces the address on the stack by the offset in the cache of the line that it selects.
fn line(body: &mut Body) {
    const LINES_OF_CACHE: u32 = CACHE_SIZE as u32 / ITEM;
    body.i32_const(LINES_OF_CACHE as i32 - 1);
    body.i32_and();
    body.i32_const(ITEM.ilog2() as i32);
    body.i32_shl();
}

/// Returns the offset of a register in an item, or of a word in a line.
fn word(index: usize) -> u32 {
    8 * index as u32
}
