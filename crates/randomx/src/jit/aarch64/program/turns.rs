//! Code that enters a program, hands over to the next lane, and returns.
//!
//! A call runs the lanes in turn. At the end of a turn the lane's code stores its registers and jumps
//! to the next lane's code. The [`flag`](crate::jit::program::flag)s say what the lane does in its
//! turn.

use std::mem::offset_of;

use super::registers::{
    E_CONVERTED, E_MASK, FLAGS, ITEMS, LANE, MA_MX, SCALE, SCRATCHPAD, T, TURNS, a, e, f, r,
};
use crate::engine::{GROUP_E_KEPT, Lane};
use crate::jit::aarch64::assembler::{Assembler, Condition, Gpr, Shift};
use crate::jit::program::Link;
use crate::program::SCALE_BITS;
use crate::registers::RegisterFile;

/// The stack frame of the code: offsets from the stack pointer.
mod slot {
    /// The size of the frame, which begins with the caller's frame pointer and return address.
    pub(super) const SIZE: i32 = 128;
    /// The caller's registers.
    pub(super) const SAVED: i32 = 16;
    /// The caller's FPCR.
    pub(super) const CALLER_FPCR: usize = 96;
    /// The [`Link`](super::Link) of the current lane.
    pub(super) const LINK: usize = 104;
    /// The link of the first lane.
    pub(super) const FIRST: usize = 112;
    /// The link of the last lane.
    pub(super) const LAST: usize = 120;
}

const FRAME_POINTER: Gpr = Gpr::x(29);
const RETURN_ADDRESS: Gpr = Gpr::x(30);

/// The registers that are used here and that the calling convention preserves, by pairs.
const SAVED: [[Gpr; 2]; 5] = [
    [Gpr::x(19), Gpr::x(20)],
    [Gpr::x(21), Gpr::x(22)],
    [Gpr::x(23), Gpr::x(24)],
    [Gpr::x(25), Gpr::x(26)],
    [Gpr::x(27), Gpr::x(28)],
];

/// The register with a lane's link at the start of its turn.
const LINK: Gpr = T[0];

/// The bits of a fraction that conversion of an integer leaves clear, and that
/// [`Configuration::e_mask`](crate::program::Configuration::e_mask) may set.
const LOW_FRACTION: u64 = (1 << 22) - 1;

const REGISTERS: usize = offset_of!(Lane, registers);
const R: usize = REGISTERS + offset_of!(RegisterFile, r);
const F: usize = REGISTERS + offset_of!(RegisterFile, f);
const E: usize = REGISTERS + offset_of!(RegisterFile, e);
const A: usize = REGISTERS + offset_of!(RegisterFile, a);

/// Emits the entry: saves the caller's registers and stores the arguments.
pub(super) fn enter(assembler: &mut Assembler) {
    let [first, last, turns, flags] = [0, 1, 2, 3].map(Gpr::x);
    assembler.push(FRAME_POINTER, RETURN_ADDRESS, slot::SIZE);
    assembler.add_value(FRAME_POINTER, Gpr::SP, 0, T[0]);
    for (place, [one, other]) in (slot::SAVED..).step_by(16).zip(SAVED) {
        assembler.stp(one, other, Gpr::SP, place);
    }
    assembler.read_fpcr(T[0]);
    assembler.str(T[0], Gpr::SP, slot::CALLER_FPCR);
    assembler.str(first, Gpr::SP, slot::FIRST);
    assembler.str(last, Gpr::SP, slot::LAST);
    assembler.mov(TURNS, turns);
    assembler.mov(FLAGS, flags);
    load_constants(assembler);
    assembler.ldr(LINK, Gpr::SP, slot::FIRST);
}

/// Emits the start of a lane's turn, with its link in [`LINK`].
pub(super) fn take_over(assembler: &mut Assembler) {
    const { assert!(offset_of!(Link, scratchpad) == offset_of!(Link, lane) + 8) };
    assembler.str(LINK, Gpr::SP, slot::LINK);
    assembler.ldp(LANE, SCRATCHPAD, LINK, offset_of!(Link, lane) as i32);
    assembler.ldr(ITEMS, LINK, offset_of!(Link, items));
    assembler.ldr32(T[1], LANE, offset_of!(Lane, control));
    assembler.write_fpcr(T[1]);
    load_lane(assembler);
}

/// Emits the end of a lane's turn: a jump to the next lane, from the last one to the first while
/// turns are left, else the exit.
pub(super) fn hand_over(assembler: &mut Assembler) {
    let (last, go) = (assembler.label(), assembler.label());
    assembler.ldr(LINK, Gpr::SP, slot::LINK);
    assembler.ldr(T[1], Gpr::SP, slot::LAST);
    assembler.cmp(LINK, T[1]);
    assembler.b_if(Condition::Zero, last);
    assembler.add_value(LINK, LINK, size_of::<Link>() as i64, T[1]);
    assembler.bind(go);
    assembler.ldr(T[1], LINK, offset_of!(Link, takeover));
    assembler.br(T[1]);

    assembler.bind(last);
    assembler.ldr(LINK, Gpr::SP, slot::FIRST);
    assembler.decrement(TURNS, TURNS);
    assembler.b_if(Condition::NotZero, go);
    leave(assembler);
}

/// Emits the exit: restores the caller's registers and returns.
fn leave(assembler: &mut Assembler) {
    assembler.ldr(T[0], Gpr::SP, slot::CALLER_FPCR);
    assembler.write_fpcr(T[0]);
    for (place, [one, other]) in (slot::SAVED..).step_by(16).zip(SAVED) {
        assembler.ldp(one, other, Gpr::SP, place);
    }
    assembler.pop(FRAME_POINTER, RETURN_ADDRESS, slot::SIZE);
    assembler.ret();
}

/// Emits loads of the constants into vector registers.
pub(super) fn load_constants(assembler: &mut Assembler) {
    for (register, value) in [(E_CONVERTED, GROUP_E_KEPT & !LOW_FRACTION), (SCALE, SCALE_BITS)] {
        assembler.mov_value(T[0], value);
        assembler.dup(register, T[0]);
    }
}

/// Emits loads of all of the lane but groups F and E.
pub(super) fn load_lane(assembler: &mut Assembler) {
    assembler.ldr32(MA_MX, LANE, offset_of!(Lane, ma));
    assembler.ldr32(T[1], LANE, offset_of!(Lane, mx));
    assembler.add_shifted(MA_MX, MA_MX, T[1], Shift::Lsl(32));
    for i in [0, 2, 4, 6] {
        assembler.ldp(r(i), r(i + 1), LANE, (R + 8 * usize::from(i)) as i32);
    }
    for i in [0, 2] {
        assembler.ldp_q(a(i), a(i + 1), LANE, (A + 16 * usize::from(i)) as i32);
    }
    assembler.ldr_q(E_MASK, LANE, offset_of!(Lane, e_mask));
}

/// Emits loads of groups F and E. Only a turn that ends an iteration without beginning it needs
/// them.
pub(super) fn load_floats(assembler: &mut Assembler) {
    for i in [0, 2] {
        let offset = 16 * usize::from(i);
        assembler.ldp_q(f(i), f(i + 1), LANE, (F + offset) as i32);
        assembler.ldp_q(e(i), e(i + 1), LANE, (E + offset) as i32);
    }
}

/// Emits stores of all registers that a program changes.
pub(super) fn store_lane(assembler: &mut Assembler) {
    for i in [0, 2, 4, 6] {
        assembler.stp(r(i), r(i + 1), LANE, (R + 8 * usize::from(i)) as i32);
    }
    for i in [0, 2] {
        let offset = 16 * usize::from(i);
        assembler.stp_q(f(i), f(i + 1), LANE, (F + offset) as i32);
        assembler.stp_q(e(i), e(i + 1), LANE, (E + offset) as i32);
    }
    assembler.str32(MA_MX, LANE, offset_of!(Lane, ma));
    assembler.lsr(T[1], MA_MX, 32);
    assembler.str32(T[1], LANE, offset_of!(Lane, mx));
    assembler.read_fpcr(T[1]);
    assembler.str32(T[1], LANE, offset_of!(Lane, control));
}

/// Emits stores of the lane's registers, and the exit.
pub(super) fn return_to_caller(assembler: &mut Assembler) {
    store_lane(assembler);
    leave(assembler);
}
