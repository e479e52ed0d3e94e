//! A SuperscalarHash function, as a loop over the items of a slot.

use super::arithmetic::Arithmetic;
use super::{ITEM, LINES, READ, line, word};
use crate::jit::wasm::Features;
use crate::jit::wasm::assembler::{Body, Local, Type};
use crate::superscalar::Program;

/// Returns the body of `program`'s function. Its parameters are a slot and the number of items.
pub(super) fn body(program: &Program, features: Features) -> Body {
    let mut body = Body::new(2);
    let (slot, count) = (body.parameter(0), body.parameter(1));
    // `slot` moves on by an item for each lane, and `lane_line` by 4 bytes.
    let [end, lane_line, line_address] = body.locals(Type::I32);
    let r = body.locals::<8>(Type::I64);

    body.local_get(count);
    body.i32_const(2);
    body.i32_shl();
    body.local_get(slot);
    body.i32_add();
    body.local_set(end);
    read_early(&mut body, slot, end);

    body.local_get(slot);
    body.local_set(lane_line);
    body.loop_();
    load(&mut body, slot, r);
    let mut arithmetic = Arithmetic::new(&mut body, r, features);
    for instruction in &program.instructions {
        arithmetic.operation(instruction);
    }
    mix(&mut body, slot, lane_line, line_address, r);
    next_line(&mut body, lane_line, r[usize::from(program.address_register & 7)]);

    advance(&mut body, slot, ITEM);
    body.local_set(slot);
    advance(&mut body, lane_line, 4);
    body.local_tee(lane_line);
    body.local_get(end);
    body.i32_lt_u();
    body.br_if(0);
    body.end();
    body
}

/// Emits the loop that reads a word of each line that the main loop will need.
fn read_early(body: &mut Body, slot: Local, end: Local) {
    let [lane_line, sum] = body.locals(Type::I32);
    body.local_get(slot);
    body.local_set(lane_line);
    body.loop_();
    body.local_get(lane_line);
    body.i32_load(LINES);
    body.i32_load(0);
    body.local_get(sum);
    body.i32_add();
    body.local_set(sum);
    advance(body, lane_line, 4);
    body.local_tee(lane_line);
    body.local_get(end);
    body.i32_lt_u();
    body.br_if(0);
    body.end();
    // The sum is stored so that engines cannot drop the loads.
    body.local_get(slot);
    body.local_get(sum);
    body.i32_store(READ);
}

/// Emits loads of the registers.
fn load(body: &mut Body, lane: Local, r: [Local; 8]) {
    for (index, register) in r.into_iter().enumerate() {
        body.local_get(lane);
        body.i64_load(word(index));
        body.local_set(register);
    }
}

/// Emits the XOR of the registers with the line of the cache, and their stores.
fn mix(body: &mut Body, lane: Local, lane_line: Local, line_address: Local, r: [Local; 8]) {
    body.local_get(lane_line);
    body.i32_load(LINES);
    body.local_set(line_address);
    for (index, register) in r.into_iter().enumerate() {
        body.local_get(lane);
        body.local_get(line_address);
        body.i64_load(word(index));
        body.local_get(register);
        body.i64_xor();
        body.local_tee(register);
        body.i64_store(word(index));
    }
}

/// Emits a store of the offset of the line that `address` selects.
fn next_line(body: &mut Body, lane_line: Local, address: Local) {
    body.local_get(lane_line);
    body.local_get(address);
    body.i32_wrap_i64();
    line(body);
    body.i32_store(LINES);
}

/// Pushes `local + bytes`.
fn advance(body: &mut Body, local: Local, bytes: u32) {
    body.local_get(local);
    body.i32_const(bytes as i32);
    body.i32_add();
}
