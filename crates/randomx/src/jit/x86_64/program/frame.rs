//! The loop around a program's instructions (specification 4.6.2) and the way in and out.

use std::mem::offset_of;

use super::Features;
use super::body::{ROUNDING_CONTROL, load_group_e};
use super::call::Stretch;
use super::registers::{E_KEPT, E_MASK, ITEMS, LANE, MA_MX, SCALE, SCRATCHPAD, a, e, f, r};
use crate::aes::Aes;
use crate::cpu::Cpu;
use crate::engine::{GROUP_E_KEPT, ITEM_ADDRESS_MASK, Lane};
use crate::jit::x86_64::assembler::{Assembler, Condition, Gpr, Label, Mark, Mem, Scale};
use crate::params::{ITEM_SIZE, Version};
use crate::program::{Configuration, SCALE_BITS};
use crate::registers::RegisterFile;
use crate::scratchpad::L3_MASK_64;

/// MXCSR for RandomX, but for the rounding mode: all exceptions masked, denormals are zero. The
/// loop's values are never denormal; without the two bits an operand could still make the
/// processor slow.
const MXCSR: i32 = 0x9fc0;

/// What the code keeps on the stack, by its distance from `rsp`.
mod slot {
    /// MXCSR of the caller.
    pub(super) const CALLER_MXCSR: i32 = 0;
    /// A word on its way to or from MXCSR.
    pub(super) const MXCSR: i32 = 4;
    /// Iterations left to end.
    pub(super) const ENDS: i32 = 8;
    /// Iterations left to begin after one has ended.
    pub(super) const BEGINS: i32 = 16;
    /// Not zero if items are read from the dataset.
    pub(super) const DATASET: i32 = 24;
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

/// The part of the code that is the same for all programs, and the places in the rest.
pub(super) struct Frame {
    constants: Constants,
    prologue: Mark,
}

#[derive(Clone, Copy)]
struct Constants {
    e_kept: Label,
    scale: Label,
}

/// Places in the loop of one program.
pub(super) struct Loop {
    next: Label,
    resume: Label,
}

impl Frame {
    /// Emits what comes first in the code of every program. The entry is at its beginning.
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
        load_vectors(assembler, constants);
        Frame { constants, prologue: assembler.mark() }
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
    ) -> Loop {
        let [first, second, ..] = configuration.read_registers.map(r);
        let places = Loop { next: assembler.label(), resume: assembler.label() };
        let addressed = assembler.label();
        assembler.test(Gpr::Rcx, Gpr::Rcx);
        assembler.jcc(Condition::Zero, places.resume);
        // The first addresses are made of `ma` and `mx` too.
        assembler.mov(Gpr::Rax, first);
        assembler.xor(Gpr::Rax, second);
        assembler.xor(Gpr::Rax, lane(ADDRESSES));
        assembler.jmp(addressed);

        assembler.align(16);
        assembler.bind(places.next);
        assembler.mov(Gpr::Rax, first);
        assembler.xor(Gpr::Rax, second);
        assembler.bind(addressed);
        assembler.mov32(Gpr::Rdx, Gpr::Rax);
        assembler.and32(Gpr::Rdx, L3_MASK_64 as i32);
        assembler.shr(Gpr::Rax, 32);
        assembler.and32(Gpr::Rax, L3_MASK_64 as i32);
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

    /// Steps 5 to 12, and the way out.
    pub(super) fn end_iteration(
        &self,
        assembler: &mut Assembler,
        places: Loop,
        configuration: &Configuration,
        version: Version,
        features: Features,
    ) {
        let (light, finish) = (assembler.label(), assembler.label());
        let exit = assembler.label();
        choose_item(assembler, configuration, version);
        assembler.mov(Gpr::Rax, stack(slot::DATASET));
        assembler.test(Gpr::Rax, Gpr::Rax);
        assembler.jcc(Condition::Zero, light);

        assembler.and32(Gpr::Rcx, ITEM_ADDRESS_MASK as i32);
        assembler.prefetchnta(Mem::indexed(ITEMS, Gpr::Rcx, Scale::One, 0));
        assembler.and32(Gpr::Rdx, ITEM_ADDRESS_MASK as i32);
        assembler.lea(Gpr::Rcx, Mem::indexed(ITEMS, Gpr::Rdx, Scale::One, 0));

        assembler.bind(finish);
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
        assembler.dec(stack(slot::ENDS));
        assembler.dec(stack(slot::BEGINS));
        assembler.jcc(Condition::NotSign, places.next);
        assembler.bind(exit);
        leave(assembler);

        // In light mode it ends here when the next item has not been passed.
        assembler.bind(light);
        assembler.mov(Gpr::Rax, stack(slot::ENDS));
        assembler.test(Gpr::Rax, Gpr::Rax);
        assembler.jcc(Condition::Zero, exit);
        assembler.bind(places.resume);
        assembler.mov(Gpr::Rcx, ITEMS);
        assembler.add(ITEMS, ITEM_SIZE as i32);
        assembler.jmp(finish);
    }

    /// Step 10 of v2 without AES instructions: a call to Rust, around which all that it may
    /// change is saved.
    fn mix_in_software(&self, assembler: &mut Assembler) {
        const VOLATILE: [Gpr; 8] =
            [LANE, SCRATCHPAD, Gpr::Rax, Gpr::Rdx, Gpr::R8, Gpr::R9, Gpr::R10, Gpr::R11];
        extern "sysv64" fn mix(lane: &mut Lane) {
            lane.mix_f_with_e(Aes::new(Cpu::baseline()));
        }
        store_floats(assembler);
        VOLATILE.iter().for_each(|&register| assembler.push(register));
        assembler.mov_immediate(Gpr::Rax, mix as *const () as u64);
        assembler.call(Gpr::Rax);
        VOLATILE.iter().rev().for_each(|&register| assembler.pop(register));
        load_vectors(assembler, self.constants);
    }
}

/// The way into the code and out again around `body` alone.
pub(super) fn enclose<T>(assembler: &mut Assembler, body: impl FnOnce(&mut Assembler) -> T) -> T {
    let _ = Frame::begin(assembler);
    let result = body(assembler);
    leave(assembler);
    result
}

/// Puts the rounding mode into MXCSR; it is in the right place in `rax`, among other bits.
#[inline(always)]
pub(super) fn load_rounding_mode(assembler: &mut Assembler) {
    assembler.and32(Gpr::Rax, 3 << ROUNDING_CONTROL);
    assembler.or32(Gpr::Rax, MXCSR);
    assembler.store32(stack(slot::MXCSR), Gpr::Rax);
    assembler.ldmxcsr(stack(slot::MXCSR));
}

/// Saves the caller's registers and loads the lane's, but for the vectors. `rcx` tells whether an
/// iteration begins first.
fn enter(assembler: &mut Assembler) {
    let stretch = |offset| Mem::new(Gpr::Rdx, offset as i32);
    SAVED.iter().for_each(|&register| assembler.push(register));
    assembler.sub(Gpr::Rsp, slot::SIZE);
    assembler.stmxcsr(stack(slot::CALLER_MXCSR));
    for (slot, offset) in [
        (slot::ENDS, offset_of!(Stretch, ends)),
        (slot::BEGINS, offset_of!(Stretch, begins)),
        (slot::DATASET, offset_of!(Stretch, dataset)),
    ] {
        assembler.mov(Gpr::Rax, stretch(offset));
        assembler.store(stack(slot), Gpr::Rax);
    }
    assembler.mov(ITEMS, stretch(offset_of!(Stretch, items)));
    assembler.mov(Gpr::Rcx, stretch(offset_of!(Stretch, begin_first)));
    assembler.mov32(Gpr::Rax, lane(offset_of!(Lane, rounding_mode)));
    assembler.shl(Gpr::Rax, ROUNDING_CONTROL);
    load_rounding_mode(assembler);
    assembler.mov(MA_MX, lane(offset_of!(Lane, ma)));
    for i in 0..8 {
        assembler.mov(r(i), lane(R + 8 * usize::from(i)));
    }
}

fn load_vectors(assembler: &mut Assembler, constants: Constants) {
    for i in 0..4 {
        let offset = 16 * usize::from(i);
        assembler.movaps(f(i), lane(F + offset));
        assembler.movaps(e(i), lane(E + offset));
        assembler.movaps(a(i), lane(A + offset));
    }
    assembler.movaps(E_KEPT, Mem::label(constants.e_kept, 0));
    assembler.movaps(E_MASK, lane(offset_of!(Lane, e_mask)));
    assembler.movaps(SCALE, Mem::label(constants.scale, 0));
}

fn store_floats(assembler: &mut Assembler) {
    for i in 0..4 {
        let offset = 16 * usize::from(i);
        assembler.store_movaps(lane(F + offset), f(i));
        assembler.store_movaps(lane(E + offset), e(i));
    }
}

/// Stores the lane's registers, restores the caller's and returns.
fn leave(assembler: &mut Assembler) {
    for i in 0..8 {
        assembler.store(lane(R + 8 * usize::from(i)), r(i));
    }
    store_floats(assembler);
    assembler.store(lane(offset_of!(Lane, ma)), MA_MX);
    assembler.stmxcsr(stack(slot::MXCSR));
    assembler.mov32(Gpr::Rax, stack(slot::MXCSR));
    assembler.shr(Gpr::Rax, ROUNDING_CONTROL);
    assembler.and32(Gpr::Rax, 3);
    assembler.store32(lane(offset_of!(Lane, rounding_mode)), Gpr::Rax);
    assembler.ldmxcsr(stack(slot::CALLER_MXCSR));
    assembler.add(Gpr::Rsp, slot::SIZE);
    SAVED.iter().rev().for_each(|&register| assembler.pop(register));
    assembler.ret();
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
