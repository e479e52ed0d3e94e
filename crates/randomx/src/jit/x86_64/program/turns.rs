//! The ways into a program's code, from lane to lane, and out again.
//!
//! A call runs one lane after the other: at the end of its turn a lane's code puts the registers
//! away and jumps to the next lane's. See [`flag`](super::call::flag) for what a turn is.

use std::mem::offset_of;

use super::call::Link;
use super::registers::{E_KEPT, E_MASK, ITEMS, LANE, MA_MX, SCALE, SCRATCHPAD, a, e, f, r};
use crate::engine::{GROUP_E_KEPT, Lane};
use crate::jit::x86_64::assembler::{Assembler, Condition, Gpr, Label, Mem};
use crate::program::SCALE_BITS;
use crate::registers::RegisterFile;

/// MXCSR for RandomX, but for the rounding mode: all exceptions masked, denormals are zero. The
/// loop's values are never denormal; without the two bits an operand could still make the
/// processor slow.
pub(super) const MXCSR: u32 = 0x9fc0;

/// Where the two bits of `fprc` are in MXCSR.
pub(super) const ROUNDING_CONTROL: u8 = 13;

/// What the code keeps on the stack, by its distance from `rsp`.
pub(super) mod slot {
    /// MXCSR of the caller.
    pub(in super::super) const CALLER_MXCSR: i32 = 0;
    /// What a turn is: [`flag`](super::super::call::flag)s.
    pub(in super::super) const FLAGS: i32 = 4;
    /// The [`Link`](super::super::call::Link) of the lane whose turn it is.
    pub(in super::super) const LINK: i32 = 8;
    /// That of the first lane and that of the last.
    pub(in super::super) const FIRST: i32 = 16;
    pub(in super::super) const LAST: i32 = 24;
    /// How often each lane still has its turn, this time included.
    pub(in super::super) const PASSES: i32 = 32;
    /// All of it. With six registers pushed the stack is aligned to 16 bytes.
    pub(in super::super) const SIZE: i32 = 40;
}

const SAVED: [Gpr; 6] = [Gpr::Rbx, Gpr::Rbp, Gpr::R12, Gpr::R13, Gpr::R14, Gpr::R15];

const REGISTERS: usize = offset_of!(Lane, registers);
const R: usize = REGISTERS + offset_of!(RegisterFile, r);
const F: usize = REGISTERS + offset_of!(RegisterFile, f);
const E: usize = REGISTERS + offset_of!(RegisterFile, e);
const A: usize = REGISTERS + offset_of!(RegisterFile, a);

/// Where the constants are that are loaded into vector registers.
#[derive(Clone, Copy)]
pub(super) struct Constants {
    e_kept: Label,
    scale: Label,
}

impl Constants {
    /// Puts them here.
    pub(super) fn emit(assembler: &mut Assembler) -> Constants {
        assembler.align(16);
        Constants {
            e_kept: constant(assembler, GROUP_E_KEPT),
            scale: constant(assembler, SCALE_BITS),
        }
    }
}

/// Saves what belongs to the caller and puts the arguments away.
pub(super) fn enter(assembler: &mut Assembler) {
    SAVED.iter().for_each(|&register| assembler.push(register));
    assembler.sub(Gpr::Rsp, slot::SIZE);
    assembler.stmxcsr(stack(slot::CALLER_MXCSR));
    assembler.store(stack(slot::FIRST), Gpr::Rdi);
    assembler.store(stack(slot::LAST), Gpr::Rsi);
    assembler.store(stack(slot::PASSES), Gpr::Rdx);
    assembler.store32(stack(slot::FLAGS), Gpr::Rcx);
}

/// Begins a lane's turn; its link is in `rcx`.
pub(super) fn take_over(assembler: &mut Assembler) {
    let link = |offset| Mem::new(Gpr::Rcx, offset as i32);
    assembler.store(stack(slot::LINK), Gpr::Rcx);
    assembler.mov(LANE, link(offset_of!(Link, lane)));
    assembler.mov(SCRATCHPAD, link(offset_of!(Link, scratchpad)));
    assembler.mov(ITEMS, link(offset_of!(Link, items)));
    assembler.ldmxcsr(lane(offset_of!(Lane, mxcsr)));
    assembler.mov(MA_MX, lane(offset_of!(Lane, ma)));
    for i in 0..8 {
        assembler.mov(r(i), lane(R + 8 * usize::from(i)));
    }
    load_lane_vectors(assembler);
}

/// Ends a lane's turn: on to the next lane, to the first one in the next pass, or out.
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
    assembler.dec(stack(slot::PASSES));
    assembler.jcc(Condition::NotZero, go);
    leave(assembler);
}

/// Restores what belongs to the caller and returns.
pub(super) fn leave(assembler: &mut Assembler) {
    assembler.ldmxcsr(stack(slot::CALLER_MXCSR));
    assembler.add(Gpr::Rsp, slot::SIZE);
    SAVED.iter().rev().for_each(|&register| assembler.pop(register));
    assembler.ret();
}

pub(super) fn load_constants(assembler: &mut Assembler, constants: Constants) {
    assembler.movaps(E_KEPT, Mem::label(constants.e_kept, 0));
    assembler.movaps(SCALE, Mem::label(constants.scale, 0));
}

pub(super) fn load_lane_vectors(assembler: &mut Assembler) {
    for i in 0..4 {
        assembler.movaps(a(i), lane(A + 16 * usize::from(i)));
    }
    assembler.movaps(E_MASK, lane(offset_of!(Lane, e_mask)));
}

/// The registers that an iteration loads anew: what ends one without beginning it needs them.
pub(super) fn load_floats(assembler: &mut Assembler) {
    for i in 0..4 {
        let offset = 16 * usize::from(i);
        assembler.movaps(f(i), lane(F + offset));
        assembler.movaps(e(i), lane(E + offset));
    }
}

/// Stores all registers that a program changes.
pub(super) fn put_away(assembler: &mut Assembler) {
    for i in 0..8 {
        assembler.store(lane(R + 8 * usize::from(i)), r(i));
    }
    for i in 0..4 {
        let offset = 16 * usize::from(i);
        assembler.store_movaps(lane(F + offset), f(i));
        assembler.store_movaps(lane(E + offset), e(i));
    }
    assembler.store(lane(offset_of!(Lane, ma)), MA_MX);
}

/// Puts the lane's registers away and returns.
pub(super) fn return_to_caller(assembler: &mut Assembler) {
    put_away(assembler);
    leave(assembler);
}

/// Puts the rounding mode into MXCSR; it is in the right place in `rax`, among other bits.
#[inline(always)]
pub(super) fn set_rounding_mode(assembler: &mut Assembler) {
    let mxcsr = lane(offset_of!(Lane, mxcsr));
    assembler.and32(Gpr::Rax, 3 << ROUNDING_CONTROL);
    assembler.or32(Gpr::Rax, MXCSR as i32);
    assembler.store32(mxcsr, Gpr::Rax);
    assembler.ldmxcsr(mxcsr);
}

/// Tests one of the flags of the turn; `rax` is lost.
pub(super) fn test_flag(assembler: &mut Assembler, flag: i32) {
    assembler.mov32(Gpr::Rax, stack(slot::FLAGS));
    assembler.test_immediate32(Gpr::Rax, flag as u32);
}

/// Two equal words, aligned to 16 bytes.
fn constant(assembler: &mut Assembler, word: u64) -> Label {
    let label = assembler.label();
    assembler.bind(label);
    assembler.data(word);
    assembler.data(word);
    label
}

pub(super) fn lane(offset: usize) -> Mem {
    Mem::new(LANE, offset as i32)
}

pub(super) fn stack(offset: i32) -> Mem {
    Mem::new(Gpr::Rsp, offset)
}
