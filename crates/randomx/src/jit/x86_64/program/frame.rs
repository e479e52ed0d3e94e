//! The loop around a program's instructions (specification 4.6.2) and the ways in and out.
//!
//! A call runs one lane after the other: at the end of its turn a lane's code puts the registers
//! away and jumps to the next lane's. See [`flag`] for what a turn is.

use std::mem::offset_of;

use super::Features;
use super::body::load_group_e;
use super::call::{Link, flag};
use super::registers::{E_KEPT, E_MASK, ITEMS, LANE, MA_MX, SCALE, SCRATCHPAD, a, e, f, r};
use crate::aes::Aes;
use crate::cpu::Cpu;
use crate::engine::{GROUP_E_KEPT, ITEM_ADDRESS_MASK, Lane};
use crate::jit::x86_64::assembler::{Assembler, Condition, Gpr, Label, Mark, Mem, Scale};
use crate::params::Version;
use crate::program::{Configuration, SCALE_BITS};
use crate::registers::RegisterFile;
use crate::scratchpad::L3_MASK_64;

/// MXCSR for RandomX, but for the rounding mode: all exceptions masked, denormals are zero. The
/// loop's values are never denormal; without the two bits an operand could still make the
/// processor slow.
pub(super) const MXCSR: u32 = 0x9fc0;

/// Where the two bits of `fprc` are in MXCSR.
pub(super) const ROUNDING_CONTROL: u8 = 13;

/// What the code keeps on the stack, by its distance from `rsp`.
mod slot {
    /// MXCSR of the caller.
    pub(super) const CALLER_MXCSR: i32 = 0;
    /// What a turn is: [`flag`](super::flag)s.
    pub(super) const FLAGS: i32 = 4;
    /// The [`Link`](super::Link) of the lane whose turn it is.
    pub(super) const LINK: i32 = 8;
    /// That of the first lane and that of the last.
    pub(super) const FIRST: i32 = 16;
    pub(super) const LAST: i32 = 24;
    /// How often each lane still has its turn, this time included.
    pub(super) const PASSES: i32 = 32;
    /// All of it. With six registers pushed the stack is aligned to 16 bytes.
    pub(super) const SIZE: i32 = 40;
}

const SAVED: [Gpr; 6] = [Gpr::Rbx, Gpr::Rbp, Gpr::R12, Gpr::R13, Gpr::R14, Gpr::R15];

const REGISTERS: usize = offset_of!(Lane, registers);
const R: usize = REGISTERS + offset_of!(RegisterFile, r);
const F: usize = REGISTERS + offset_of!(RegisterFile, f);
const E: usize = REGISTERS + offset_of!(RegisterFile, e);
const A: usize = REGISTERS + offset_of!(RegisterFile, a);
/// `spAddr0`, then `spAddr1`.
const ADDRESSES: usize = offset_of!(Lane, addresses);

/// The part of the code that is the same for all programs.
pub(super) struct Frame {
    constants: Constants,
    /// Where another lane's code jumps to.
    takeover: usize,
    prologue: Mark,
}

#[derive(Clone, Copy)]
struct Constants {
    e_kept: Label,
    scale: Label,
}

/// Places in the loop of one program.
pub(super) struct Places {
    begin: Label,
    end_only: Label,
}

impl Frame {
    /// Emits what comes first in the code of every program, from the entry on.
    pub(super) fn begin(assembler: &mut Assembler) -> Frame {
        let over = assembler.label();
        assembler.jmp(over);
        assembler.align(16);
        let constants = Constants {
            e_kept: constant(assembler, GROUP_E_KEPT),
            scale: constant(assembler, SCALE_BITS),
        };
        assembler.bind(over);
        enter(assembler);
        load_constants(assembler, constants);
        assembler.mov(Gpr::Rcx, stack(slot::FIRST));
        let takeover = assembler.position().offset();
        take_over(assembler);
        Frame { constants, takeover, prologue: assembler.mark() }
    }

    /// Where in the code another lane's code jumps to, with its link in `rcx`.
    pub(super) fn takeover(&self) -> usize {
        self.takeover
    }

    /// Forgets the last program's code.
    pub(super) fn rewind(&self, assembler: &mut Assembler) {
        assembler.rewind(self.prologue);
    }

    /// Steps 1 to 3.
    pub(super) fn begin_iteration(
        &self,
        assembler: &mut Assembler,
        configuration: &Configuration,
        features: Features,
    ) -> Places {
        let places = Places { begin: assembler.label(), end_only: assembler.label() };
        test_flag(assembler, flag::BEGIN);
        assembler.jcc(Condition::Zero, places.end_only);
        assembler.bind(places.begin);
        mix_addresses(assembler, configuration);
        assembler.store32(lane(ADDRESSES), Gpr::Rdx);
        assembler.store32(lane(ADDRESSES + 4), Gpr::Rax);
        for i in 0..8 {
            assembler.xor(r(i), scratchpad(Gpr::Rdx, 8 * i));
        }
        for i in 0..4 {
            assembler.cvtdq2pd(f(i), scratchpad(Gpr::Rax, 8 * i));
        }
        for i in 0..4 {
            load_group_e(assembler, e(i), scratchpad(Gpr::Rax, 32 + 8 * i), features);
        }
        places
    }

    /// Steps 5 to 12, and what follows a turn.
    pub(super) fn end_iteration(
        &self,
        assembler: &mut Assembler,
        places: Places,
        configuration: &Configuration,
        version: Version,
        features: Features,
    ) {
        let (passed, end) = (assembler.label(), assembler.label());
        let (alone, turn_over) = (assembler.label(), assembler.label());
        choose_item(assembler, configuration, version);
        test_flag(assembler, flag::DATASET);
        assembler.jcc(Condition::Zero, passed);
        assembler.and32(Gpr::Rcx, ITEM_ADDRESS_MASK as i32);
        assembler.prefetchnta(Mem::indexed(ITEMS, Gpr::Rcx, Scale::One, 0));
        assembler.and32(Gpr::Rdx, ITEM_ADDRESS_MASK as i32);
        assembler.lea(Gpr::Rcx, Mem::indexed(ITEMS, Gpr::Rdx, Scale::One, 0));

        assembler.bind(end);
        assembler.mov32(Gpr::Rdx, lane(ADDRESSES));
        assembler.mov32(Gpr::Rax, lane(ADDRESSES + 4));
        for i in 0..8 {
            assembler.xor(r(i), Mem::new(Gpr::Rcx, 8 * i32::from(i)));
        }
        for i in 0..8 {
            assembler.store(scratchpad(Gpr::Rax, 8 * i), r(i));
        }
        match version {
            Version::V1 => (0..4).for_each(|i| assembler.xorps(f(i), e(i))),
            Version::V2 if features.aes => mix_by_aes(assembler),
            Version::V2 => self.mix_in_software(assembler),
        }
        for i in 0..4 {
            assembler.store_movaps(scratchpad(Gpr::Rdx, 16 * i), f(i));
        }
        // The next iteration's lines are on their way while other lanes have their turns.
        assembler.xor32(Gpr::Rax, Gpr::Rax);
        assembler.store(lane(ADDRESSES), Gpr::Rax);
        mix_addresses(assembler, configuration);
        assembler.prefetcht0(scratchpad(Gpr::Rdx, 0));
        assembler.prefetcht0(scratchpad(Gpr::Rax, 0));
        test_flag(assembler, flag::ALONE);
        assembler.jcc(Condition::NotZero, alone);

        assembler.bind(turn_over);
        put_away(assembler);
        hand_over(assembler);

        assembler.bind(alone);
        assembler.dec(stack(slot::PASSES));
        assembler.jcc(Condition::NotZero, places.begin);
        return_to_caller(assembler);

        // The item has been passed, or it has not and the turn is over before it is needed.
        assembler.bind(passed);
        test_flag(assembler, flag::END);
        assembler.jcc(Condition::Zero, turn_over);
        assembler.mov(Gpr::Rcx, ITEMS);
        assembler.jmp(end);

        assembler.bind(places.end_only);
        load_floats(assembler);
        assembler.mov(Gpr::Rcx, ITEMS);
        assembler.jmp(end);
    }

    /// Step 10 of v2 without AES instructions: a call to Rust, around which all that it may
    /// change is saved.
    fn mix_in_software(&self, assembler: &mut Assembler) {
        const VOLATILE: [Gpr; 8] =
            [LANE, SCRATCHPAD, Gpr::Rax, Gpr::Rdx, Gpr::R8, Gpr::R9, Gpr::R10, Gpr::R11];
        extern "sysv64" fn mix(lane: &mut Lane) {
            lane.mix_f_with_e(Aes::new(Cpu::baseline()));
        }
        put_away(assembler);
        VOLATILE.iter().for_each(|&register| assembler.push(register));
        assembler.mov_immediate(Gpr::Rax, mix as *const () as u64);
        assembler.call(Gpr::Rax);
        VOLATILE.iter().rev().for_each(|&register| assembler.pop(register));
        load_constants(assembler, self.constants);
        load_lane_vectors(assembler);
        load_floats(assembler);
    }
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

/// Saves what belongs to the caller and puts the arguments away.
fn enter(assembler: &mut Assembler) {
    SAVED.iter().for_each(|&register| assembler.push(register));
    assembler.sub(Gpr::Rsp, slot::SIZE);
    assembler.stmxcsr(stack(slot::CALLER_MXCSR));
    assembler.store(stack(slot::FIRST), Gpr::Rdi);
    assembler.store(stack(slot::LAST), Gpr::Rsi);
    assembler.store(stack(slot::PASSES), Gpr::Rdx);
    assembler.store32(stack(slot::FLAGS), Gpr::Rcx);
}

/// Begins a lane's turn; its link is in `rcx`.
fn take_over(assembler: &mut Assembler) {
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
fn hand_over(assembler: &mut Assembler) {
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
fn leave(assembler: &mut Assembler) {
    assembler.ldmxcsr(stack(slot::CALLER_MXCSR));
    assembler.add(Gpr::Rsp, slot::SIZE);
    SAVED.iter().rev().for_each(|&register| assembler.pop(register));
    assembler.ret();
}

fn load_constants(assembler: &mut Assembler, constants: Constants) {
    assembler.movaps(E_KEPT, Mem::label(constants.e_kept, 0));
    assembler.movaps(SCALE, Mem::label(constants.scale, 0));
}

fn load_lane_vectors(assembler: &mut Assembler) {
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
fn put_away(assembler: &mut Assembler) {
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

/// The scratchpad addresses of an iteration: `spAddr0` in `rdx` and `spAddr1` in `rax`, masked.
fn mix_addresses(assembler: &mut Assembler, configuration: &Configuration) {
    let [first, second, ..] = configuration.read_registers.map(r);
    assembler.mov(Gpr::Rax, first);
    assembler.xor(Gpr::Rax, second);
    assembler.xor(Gpr::Rax, lane(ADDRESSES));
    assembler.mov32(Gpr::Rdx, Gpr::Rax);
    assembler.and32(Gpr::Rdx, L3_MASK_64 as i32);
    assembler.shr(Gpr::Rax, 32);
    assembler.and32(Gpr::Rax, L3_MASK_64 as i32);
}

fn test_flag(assembler: &mut Assembler, flag: i32) {
    assembler.mov32(Gpr::Rax, stack(slot::FLAGS));
    assembler.test_immediate32(Gpr::Rax, flag as u32);
}

/// Steps 5, 6 and 8: leaves this iteration's item address in `edx` and in the lane, and what to
/// prefetch in `ecx`, both not masked yet.
fn choose_item(assembler: &mut Assembler, configuration: &Configuration, version: Version) {
    let [.., third, fourth] = configuration.read_registers.map(r);
    assembler.mov32(Gpr::Rax, third);
    assembler.xor32(Gpr::Rax, fourth);
    match version {
        Version::V1 => {
            assembler.ror(MA_MX, 32);
            assembler.xor(MA_MX, Gpr::Rax);
            assembler.mov(Gpr::Rdx, MA_MX);
            assembler.shr(Gpr::Rdx, 32);
            assembler.mov32(Gpr::Rcx, MA_MX);
        }
        Version::V2 => {
            assembler.mov32(Gpr::Rdx, MA_MX);
            assembler.xor(MA_MX, Gpr::Rax);
            assembler.mov32(Gpr::Rcx, MA_MX);
            assembler.ror(MA_MX, 32);
        }
    }
    assembler.store32(lane(offset_of!(Lane, item_address)), Gpr::Rdx);
}

/// Step 10 of v2.
fn mix_by_aes(assembler: &mut Assembler) {
    for key in (0..4).map(e) {
        assembler.aesenc(f(0), key);
        assembler.aesdec(f(1), key);
        assembler.aesenc(f(2), key);
        assembler.aesdec(f(3), key);
    }
}

/// Two equal words, aligned to 16 bytes.
fn constant(assembler: &mut Assembler, word: u64) -> Label {
    let label = assembler.label();
    assembler.bind(label);
    assembler.data(word);
    assembler.data(word);
    label
}

fn lane(offset: usize) -> Mem {
    Mem::new(LANE, offset as i32)
}

fn stack(offset: i32) -> Mem {
    Mem::new(Gpr::Rsp, offset)
}

fn scratchpad(address: Gpr, offset: u8) -> Mem {
    Mem::indexed(SCRATCHPAD, address, Scale::One, i32::from(offset))
}
