//! The module that connects a worker's memory with the memory of the cache.
//!
//! WebKit allows an instance only one memory, so the functions that read the cache cannot write a
//! worker's own memory. Numbers and items pass as arguments and results.

use super::assembler::{Body, Local, Type};
use super::module::{Memory, Module};
use super::superscalar::MAX_BATCH;
use crate::superscalar::Item;

/// Returns the module, which is the same for all keys. It imports the memory `randomx.memory` and, from
/// `items`, the exports of [`superscalar::module`](super::superscalar::module).
///
/// It exports `items(slot: i32, numbers: i32, items: i32, count: i32)`, which reads `count` item
/// numbers at one address and writes the items to the other, in batches.
pub fn module() -> Vec<u8> {
    let mut module = Module::new();
    let memory = Memory { minimum: 1, maximum: None, shared: false };
    module.import_memory("randomx", "memory", memory);
    let start = module.import_function("items", "start", &[Type::I32; 3], &[]);
    let compute = module.import_function("items", "compute", &[Type::I32; 2], &[]);
    let item = module.import_function("items", "item", &[Type::I32; 2], &[Type::I64; 8]);

    let mut body = Body::new(4);
    let [slot, numbers, items, count] = [0, 1, 2, 3].map(|index| body.parameter(index));
    let [batch, lane] = body.locals(Type::I32);
    let r = body.locals::<8>(Type::I64);
    body.block();
    body.loop_();
    body.local_get(count);
    body.i32_eqz();
    body.br_if(1);

    body.local_get(count);
    body.i32_const(MAX_BATCH as i32);
    body.local_get(count);
    body.i32_const(MAX_BATCH as i32);
    body.i32_lt_u();
    body.select();
    body.local_set(batch);

    each_lane(&mut body, lane, batch, |body| {
        body.local_get(slot);
        body.local_get(lane);
        body.local_get(numbers);
        body.i32_load(0);
        body.call(start);
        advance(body, numbers, size_of::<u32>());
    });
    body.local_get(slot);
    body.local_get(batch);
    body.call(compute);
    each_lane(&mut body, lane, batch, |body| {
        body.local_get(slot);
        body.local_get(lane);
        body.call(item);
        // The last result is on top of the stack.
        for register in r.into_iter().rev() {
            body.local_set(register);
        }
        for (offset, register) in (0..).step_by(8).zip(r) {
            body.local_get(items);
            body.local_get(register);
            body.i64_store(offset);
        }
        advance(body, items, size_of::<Item>());
    });

    body.local_get(count);
    body.local_get(batch);
    body.i32_sub();
    body.local_set(count);
    body.br(0);
    body.end();
    body.end();
    let function = module.function(&[Type::I32; 4], &[], &body);
    module.export("items", function);
    module.finish()
}

/// Emits a loop over the lanes of a batch, at least one.
fn each_lane(body: &mut Body, lane: Local, batch: Local, write: impl FnOnce(&mut Body)) {
    body.i32_const(0);
    body.local_set(lane);
    body.loop_();
    write(body);
    body.local_get(lane);
    body.i32_const(1);
    body.i32_add();
    body.local_tee(lane);
    body.local_get(batch);
    body.i32_lt_u();
    body.br_if(0);
    body.end();
}

/// Emits `address += bytes`.
fn advance(body: &mut Body, address: Local, bytes: usize) {
    body.local_get(address);
    body.i32_const(bytes as i32);
    body.i32_add();
    body.local_set(address);
}
