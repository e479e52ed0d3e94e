//! Code that enters a program, hands over to the next lane, and returns.
//!
//! A call runs the lanes in turn. At the end of a turn the lane's code stores its registers and jumps
//! to the next lane's code. The [`flag`](crate::jit::program::flag)s say what the lane does in its turn.

use std::mem::offset_of;

use super::modes::Modes;
use super::registers::{E_KEPT, E_MASK, ITEMS, LANE, MA_MX, SCALE, SCRATCHPAD, a, e, f, r};
use crate::engine::{GROUP_E_KEPT, Lane};
use crate::jit::program::{Link, flag};
use crate::jit::x86_64::assembler::{Assembler, Condition, Gpr, Label, Mem};
use crate::program::SCALE_BITS;
use crate::registers::RegisterFile;

/// The stack frame of the code: offsets from `rsp`.
pub(super) mod slot {
    /// The caller's MXCSR.
    pub(in super::super) const CALLER_MXCSR: i32 = 0;
    /// The [`flag`](crate::jit::program::flag)s of the call.
    pub(in super::super) const FLAGS: i32 = 4;
    /// The [`Link`](crate::jit::program::Link) of the current lane.
    pub(in super::super) const LINK: i32 = 8;
    /// The link of the first lane.
    pub(in super::super) const FIRST: i32 = 16;
    /// The link of the last lane.
    pub(in super::super) const LAST: i32 = 24;
    /// The number of turns that each lane still has, the current one included.
    pub(in super::super) const TURNS: i32 = 32;
    /// The address of the item whose prefetch the previous turn has postponed, or zero.
    pub(in super::super) const POSTPONED: i32 = 40;
    /// The size of the frame. With six registers pushed the stack is aligned to 16 bytes.
    pub(in super::super) const SIZE: i32 = 56;
}

const SAVED: [Gpr; 6] = [Gpr::Rbx, Gpr::Rbp, Gpr::R12, Gpr::R13, Gpr::R14, Gpr::R15];

const REGISTERS: usize = offset_of!(Lane, registers);
const R: usize = REGISTERS + offset_of!(RegisterFile, r);
const F: usize = REGISTERS + offset_of!(RegisterFile, f);
const E: usize = REGISTERS + offset_of!(RegisterFile, e);
const A: usize = REGISTERS + offset_of!(RegisterFile, a);

/// Labels of the constants that are loaded into vector registers.
#[derive(Clone, Copy)]
pub(super) struct Constants {
    e_kept: Label,
    scale: Label,
}

impl Constants {
    /// Emits the constants.
    pub(super) fn emit(assembler: &mut Assembler) -> Constants {
        assembler.align(16);
        Constants {
            e_kept: constant(assembler, GROUP_E_KEPT),
            scale: constant(assembler, SCALE_BITS),
        }
    }
}

/// Emits the entry: saves the caller's registers and stores the arguments.
pub(super) fn enter(assembler: &mut Assembler) {
    SAVED.iter().for_each(|&register| assembler.push(register));
    assembler.sub(Gpr::Rsp, slot::SIZE);
    assembler.stmxcsr(stack(slot::CALLER_MXCSR));
    assembler.store(stack(slot::FIRST), Gpr::Rdi);
    assembler.store(stack(slot::LAST), Gpr::Rsi);
    assembler.store(stack(slot::TURNS), Gpr::Rdx);
    assembler.store32(stack(slot::FLAGS), Gpr::Rcx);
    assembler.xor32(Gpr::Rax, Gpr::Rax);
    assembler.store(stack(slot::POSTPONED), Gpr::Rax);
}

/// Emits the start of a lane's turn, with its link in `rcx`.
pub(super) fn take_over(assembler: &mut Assembler, modes: Modes) {
    let link = |offset| Mem::new(Gpr::Rcx, offset as i32);
    assembler.store(stack(slot::LINK), Gpr::Rcx);
    assembler.mov(LANE, link(offset_of!(Link, lane)));
    assembler.mov(SCRATCHPAD, link(offset_of!(Link, scratchpad)));
    assembler.mov(ITEMS, link(offset_of!(Link, items)));
    modes.resume(assembler);
    assembler.mov(MA_MX, lane(offset_of!(Lane, ma)));
    for i in 0..8 {
        assembler.mov(r(i), lane(R + 8 * usize::from(i)));
    }
    load_lane_vectors(assembler);
}

/// Emits the end of a lane's turn: a jump to the next lane, from the last one to the first while
/// turns are left, else the exit.
pub(super) fn hand_over(assembler: &mut Assembler) {
    let (last, go) = (assembler.label(), assembler.label());
    assembler.mov(Gpr::Rcx, stack(slot::LINK));
    assembler.cmp(Gpr::Rcx, stack(slot::LAST));
    assembler.jcc(Condition::Zero, last);
    assembler.add(Gpr::Rcx, size_of::<Link>() as i32);
    assembler.bind(go);
    assembler.mov(Gpr::Rax, Mem::new(Gpr::Rcx, offset_of!(Link, takeover) as i32));
    assembler.jmp_register(Gpr::Rax);

    assembler.bind(last);
    assembler.mov(Gpr::Rcx, stack(slot::FIRST));
    assembler.dec(stack(slot::TURNS));
    assembler.jcc(Condition::NotZero, go);
    leave(assembler);
}

/// Emits the exit: restores the caller's registers and returns.
pub(super) fn leave(assembler: &mut Assembler) {
    assembler.ldmxcsr(stack(slot::CALLER_MXCSR));
    assembler.add(Gpr::Rsp, slot::SIZE);
    SAVED.iter().rev().for_each(|&register| assembler.pop(register));
    assembler.ret();
}

/// Emits loads of the constants into vector registers.
pub(super) fn load_constants(assembler: &mut Assembler, constants: Constants) {
    assembler.movaps(E_KEPT, Mem::label(constants.e_kept, 0));
    assembler.movaps(SCALE, Mem::label(constants.scale, 0));
}

/// Emits loads of the lane's vectors that no instruction changes.
pub(super) fn load_lane_vectors(assembler: &mut Assembler) {
    for i in 0..4 {
        assembler.movaps(a(i), lane(A + 16 * usize::from(i)));
    }
    assembler.movaps(E_MASK, lane(offset_of!(Lane, e_mask)));
}

/// Emits loads of groups F and E. Only a turn that ends an iteration without beginning it needs
/// them.
pub(super) fn load_floats(assembler: &mut Assembler) {
    for i in 0..4 {
        let offset = 16 * usize::from(i);
        assembler.movaps(f(i), lane(F + offset));
        assembler.movaps(e(i), lane(E + offset));
    }
}

/// Emits the stores at the end of a turn, with the call's flags in `eax`. With a dataset, only a lane's final turn stores
/// groups F and E, because the next iteration replaces them at its beginning. Without one, a turn may end within an
/// iteration. The code overwrites `rax`.
pub(super) fn store_turn(assembler: &mut Assembler) {
    let (all, end) = (assembler.label(), assembler.label());
    assembler.test_immediate32(Gpr::Rax, flag::DATASET as u32);
    assembler.jcc(Condition::Zero, all);
    assembler.mov(Gpr::Rax, stack(slot::TURNS));
    assembler.sub(Gpr::Rax, 1);
    assembler.jcc(Condition::Zero, all);
    store_integers(assembler);
    assembler.jmp(end);

    assembler.bind(all);
    store_lane(assembler);
    assembler.bind(end);
}

/// Emits stores of the registers that the next iteration reads.
fn store_integers(assembler: &mut Assembler) {
    for i in 0..8 {
        assembler.store(lane(R + 8 * usize::from(i)), r(i));
    }
    assembler.store(lane(offset_of!(Lane, ma)), MA_MX);
}

/// Emits stores of all registers that a program changes.
pub(super) fn store_lane(assembler: &mut Assembler) {
    store_integers(assembler);
    for i in 0..4 {
        let offset = 16 * usize::from(i);
        assembler.store_movaps(lane(F + offset), f(i));
        assembler.store_movaps(lane(E + offset), e(i));
    }
}

/// Emits stores of the lane's registers, and the exit.
pub(super) fn return_to_caller(assembler: &mut Assembler) {
    store_lane(assembler);
    leave(assembler);
}

/// Emits a test of a flag of the call. It leaves all flags of the call in `eax`.
pub(super) fn test_flag(assembler: &mut Assembler, flag: i32) {
    assembler.mov32(Gpr::Rax, stack(slot::FLAGS));
    assembler.test_immediate32(Gpr::Rax, flag as u32);
}

/// Emits two equal words, aligned to 16 bytes.
fn constant(assembler: &mut Assembler, word: u64) -> Label {
    let label = assembler.label();
    assembler.bind(label);
    assembler.data(word);
    assembler.data(word);
    label
}

/// Returns the operand for a field of the lane.
pub(super) fn lane(offset: usize) -> Mem {
    Mem::new(LANE, offset as i32)
}

/// Returns the operand for a [`slot`] of the stack frame.
pub(super) fn stack(offset: i32) -> Mem {
    Mem::new(Gpr::Rsp, offset)
}
