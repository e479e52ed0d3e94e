//! SuperscalarHash on one item at a time, in general purpose registers.

use super::kernel::{ITEMS, LAST_ARGUMENT, LINE, LINE_MASK, LINE_SHIFT, LINES, NUMBERS, Pool};
use crate::jit::x86_64::assembler::Gpr::{self, *};
use crate::jit::x86_64::assembler::{Assembler, Condition, Mem, Scale};
use crate::reciprocal::reciprocal;
use crate::superscalar::{ITEM_CONSTANTS, ITEM_MULTIPLIER, Instruction, Kind, Program};

/// `r0` to `r7`.
const REGISTERS: [Gpr; 8] = [R8, R9, R10, R11, R12, R13, R14, R15];
/// The registers that are used here and that the calling convention preserves.
pub(super) const SAVED: [Gpr; 6] = [Rbx, Rbp, R12, R13, R14, R15];

/// The current item.
const ITEM: Gpr = Rsi;
/// The line of the cache that is mixed in at the end of the function.
const OWN_LINE: Gpr = Rbx;
/// The number of items left.
const COUNT: Gpr = Rcx;
/// The address of the current item's number, in the first function.
const NUMBER: Gpr = Rbp;

/// Emits a kernel that computes items one by one.
///
/// It computes each function for all items before the next function. The lines that the items need
/// next arrive meanwhile. Arithmetic overlaps too: a processor begins the next item long before the
/// last results of the current one.
pub(super) fn emit(a: &mut Assembler, pool: &mut Pool, programs: &[Program; 8]) {
    for register in SAVED {
        a.push(register);
    }
    // Each function starts from these.
    for argument in [LAST_ARGUMENT, ITEMS, NUMBERS] {
        a.push(argument);
    }
    let (numbers, items, count) = (Mem::new(Rsp, 0), Mem::new(Rsp, 8), Mem::new(Rsp, 16));
    prefetch_first_lines(a);
    let mut before = None;
    for (index, program) in programs.iter().enumerate() {
        a.mov(ITEM, items);
        a.mov(COUNT, count);
        if before.is_none() {
            a.mov(NUMBER, numbers);
        }
        a.align(32);
        let next_item = a.position();
        let (item, address) = (Mem::new(ITEM, 0), program.address_register & 7);
        match before {
            None => {
                begin(a, pool, Mem::new(NUMBER, 0));
                a.add(NUMBER, 4);
            }
            Some(address) => load(a, item, address),
        }
        for instruction in &program.instructions {
            operation(a, pool, instruction);
        }
        mix(a);
        if index + 1 < programs.len() {
            prefetch_line(a, REGISTERS[usize::from(address)]);
        }
        store(a, item);
        before = Some(address);
        a.add(ITEM, LINE);
        a.dec(COUNT);
        a.jcc_back(Condition::NotZero, next_item);
    }
    a.add(Rsp, 24);
    for register in SAVED.into_iter().rev() {
        a.pop(register);
    }
    a.ret();
}

/// Emits prefetches of the lines that the first function mixes in at its end, for all items. If each item prefetched its
/// line when its first function begins, that function alone would be too short to hide the latency. Overwrites `rax`,
/// [`COUNT`] and [`NUMBER`].
fn prefetch_first_lines(a: &mut Assembler) {
    a.mov(NUMBER, NUMBERS);
    let next_item = a.position();
    a.mov32(Rax, Mem::new(NUMBER, 0));
    prefetch_line(a, Rax);
    a.add(NUMBER, 4);
    a.dec(COUNT);
    a.jcc_back(Condition::NotZero, next_item);
}

/// Emits the initialisation of the registers from the number of an item.
pub(super) fn begin(a: &mut Assembler, pool: &mut Pool, number: Mem) {
    let first = REGISTERS[0];
    a.mov32(OWN_LINE, number);
    a.lea(first, Mem::new(OWN_LINE, 1));
    a.imul(first, pool.constant(ITEM_MULTIPLIER));
    line(a, OWN_LINE, OWN_LINE);
    a.add(OWN_LINE, LINES);
    for (register, constant) in REGISTERS.into_iter().zip(ITEM_CONSTANTS).skip(1) {
        a.mov_immediate(register, constant);
        a.xor(register, first);
    }
}

/// Emits a prefetch of the line that [`begin`] has selected.
pub(super) fn prefetch_own_line(a: &mut Assembler) {
    a.prefetcht0(Mem::new(OWN_LINE, 0));
}

/// Emits loads of the registers from `item`. Register `address` selects the line.
pub(super) fn load(a: &mut Assembler, item: Mem, address: u8) {
    a.mov(OWN_LINE, item.plus(8 * i32::from(address)));
    line(a, OWN_LINE, OWN_LINE);
    a.add(OWN_LINE, LINES);
    for (word, register) in REGISTERS.into_iter().enumerate() {
        a.mov(register, item.plus(8 * word as i32));
    }
}

/// Emits the XOR of the line of the cache into the registers.
pub(super) fn mix(a: &mut Assembler) {
    for (word, register) in REGISTERS.into_iter().enumerate() {
        a.xor(register, Mem::new(OWN_LINE, 8 * word as i32));
    }
}

/// Emits stores of the registers to `item`.
pub(super) fn store(a: &mut Assembler, item: Mem) {
    for (word, register) in REGISTERS.into_iter().enumerate() {
        a.store(item.plus(8 * word as i32), register);
    }
}

/// Emits a prefetch of the line that register `address` of a stored item selects.
pub(super) fn prefetch(a: &mut Assembler, item: Mem, address: u8) {
    a.mov(Rax, item.plus(8 * i32::from(address)));
    prefetch_line(a, Rax);
}

/// Emits a prefetch of the line that `address` selects. Overwrites `rax`.
fn prefetch_line(a: &mut Assembler, address: Gpr) {
    line(a, Rax, address);
    a.prefetcht0(Mem::indexed(LINES, Rax, Scale::One, 0));
}

/// Emits the computation of the offset of the cache line that `address` selects.
fn line(a: &mut Assembler, offset: Gpr, address: Gpr) {
    if offset != address {
        a.mov32(offset, address);
    }
    a.and32(offset, LINE_MASK);
    a.shl(offset, LINE_SHIFT);
}

/// Emits one operation.
pub(super) fn operation(a: &mut Assembler, pool: &mut Pool, instruction: &Instruction) {
    let dst = REGISTERS[usize::from(instruction.dst & 7)];
    let src = REGISTERS[usize::from(instruction.src & 7)];
    let constant = instruction.imm32 as i32;
    match instruction.kind {
        Kind::IsubR => a.sub(dst, src),
        Kind::IxorR => a.xor(dst, src),
        Kind::IaddRs => match instruction.modifier >> 2 & 3 {
            0 => a.add(dst, src),
            1 => a.lea(dst, Mem::indexed(dst, src, Scale::Two, 0)),
            2 => a.lea(dst, Mem::indexed(dst, src, Scale::Four, 0)),
            _ => a.lea(dst, Mem::indexed(dst, src, Scale::Eight, 0)),
        },
        Kind::ImulR => a.imul(dst, src),
        Kind::IrorC => a.ror(dst, (instruction.imm32 & 63) as u8),
        Kind::IaddC7 | Kind::IaddC8 | Kind::IaddC9 => a.add(dst, constant),
        Kind::IxorC7 | Kind::IxorC8 | Kind::IxorC9 => a.xor(dst, constant),
        Kind::ImulhR => {
            a.mov(Rax, dst);
            a.mul(src);
            a.mov(dst, Rdx);
        }
        Kind::IsmulhR => {
            a.mov(Rax, dst);
            a.imul_wide(src);
            a.mov(dst, Rdx);
        }
        Kind::ImulRcp => {
            // 0 and powers of two have no reciprocal: the operation does nothing.
            if let Some(factor) = reciprocal(instruction.imm32) {
                a.imul(dst, pool.constant(factor));
            }
        }
    }
}
