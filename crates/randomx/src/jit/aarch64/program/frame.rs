//! The loop around a program's instructions (specification 4.6.2).

use std::mem::offset_of;

use super::Features;
use super::registers::{
    ADDRESSES, E_CONVERTED, E_MASK, FLAGS, ITEMS, LANE, LINE, MA_MX, SCRATCHPAD, T, TURNS, e, f, r,
};
use super::turns::{
    enter, hand_over, load_constants, load_floats, load_lane, return_to_caller, store_lane,
    take_over,
};
use crate::aes::Aes;
use crate::cpu::Cpu;
use crate::engine::{ITEM_ADDRESS_MASK, Lane};
use crate::jit::aarch64::assembler::{
    Assembler, Condition, Gpr, Label, Mark, Neon, Position, Prefetch, Shift,
};
use crate::jit::program::flag;
use crate::params::Version;
use crate::program::Configuration;
use crate::scratchpad::L3_MASK_64;

/// `spAddr0`, then `spAddr1`.
const LANE_ADDRESSES: usize = offset_of!(Lane, addresses);

/// A pointer into the scratchpad, or to the item.
const POINTER: Gpr = T[1];

/// The start of the code, which is the same for all programs.
pub(super) struct Frame {
    /// The offset that another lane's code jumps to.
    takeover: usize,
    prologue: Mark,
}

/// Places in the loop of one program.
pub(super) struct Places {
    begin: Position,
    end_only: Label,
}

impl Frame {
    /// Emits the start of the code, from the entry on.
    pub(super) fn begin(assembler: &mut Assembler) -> Frame {
        enter(assembler);
        let takeover = assembler.position().offset();
        take_over(assembler);
        Frame { takeover, prologue: assembler.mark() }
    }

    /// Returns the offset that another lane's code jumps to.
    pub(super) fn takeover(&self) -> usize {
        self.takeover
    }

    /// Removes the last program's code.
    pub(super) fn rewind(&self, assembler: &mut Assembler) {
        assembler.rewind(self.prologue);
    }

    /// Emits steps 1 to 3.
    pub(super) fn begin_iteration(
        &self,
        assembler: &mut Assembler,
        configuration: &Configuration,
    ) -> Places {
        let end_only = assembler.label();
        assembler.tbz(FLAGS, bit(flag::BEGIN), end_only);
        first_addresses(assembler, configuration);
        let begin = assembler.position();
        assembler.add(POINTER, SCRATCHPAD, ADDRESSES[0]);
        xor_line(assembler, POINTER);
        assembler.add(POINTER, SCRATCHPAD, ADDRESSES[1]);
        load_floats_from_line(assembler);
        Places { begin, end_only }
    }

    /// Emits steps 5 to 12 and the end of a turn.
    pub(super) fn end_iteration(
        &self,
        assembler: &mut Assembler,
        places: Places,
        configuration: &Configuration,
        version: Version,
        features: Features,
    ) {
        let (without_dataset, end) = (assembler.label(), assembler.label());
        let (alone, turn_over) = (assembler.label(), assembler.label());
        mix_item_address(assembler, configuration, version);
        assembler.tbz(FLAGS, bit(flag::DATASET), without_dataset);
        find_item(assembler, version);

        assembler.bind(end);
        xor_line(assembler, POINTER);
        assembler.add(POINTER, SCRATCHPAD, ADDRESSES[1]);
        for i in [0, 2, 4, 6] {
            assembler.stp(r(i), r(i + 1), POINTER, 8 * i32::from(i));
        }
        match version {
            Version::V1 => (0..4).for_each(|i| assembler.eor_v(f(i), f(i), e(i))),
            Version::V2 if features.aes => mix_by_aes(assembler),
            Version::V2 => mix_in_software(assembler),
        }
        assembler.add(POINTER, SCRATCHPAD, ADDRESSES[0]);
        for i in [0, 2] {
            assembler.stp_q(f(i), f(i + 1), POINTER, 16 * i32::from(i));
        }
        // Prefetches the next iteration's lines while other lanes have their turns.
        next_addresses(assembler, configuration);
        for address in ADDRESSES {
            assembler.prfm_indexed(Prefetch::Keep, SCRATCHPAD, address);
        }
        assembler.tbnz(FLAGS, bit(flag::ALONE), alone);
        store_addresses(assembler, [Gpr::ZERO; 2]);

        assembler.bind(turn_over);
        store_lane(assembler);
        hand_over(assembler);

        assembler.bind(alone);
        assembler.decrement(TURNS, TURNS);
        assembler.b_if_back(Condition::NotZero, places.begin);
        store_addresses(assembler, [Gpr::ZERO; 2]);
        return_to_caller(assembler);

        // Without a dataset, the caller has passed the item, or the turn ends before it is needed.
        assembler.bind(without_dataset);
        store_item_address(assembler, version);
        store_addresses(assembler, ADDRESSES);
        assembler.tbz(FLAGS, bit(flag::END), turn_over);
        assembler.mov(POINTER, ITEMS);
        assembler.b(end);

        assembler.bind(places.end_only);
        load_floats(assembler);
        load_addresses(assembler);
        assembler.mov(POINTER, ITEMS);
        assembler.b(end);
    }
}

/// Returns the position of a flag's bit.
const fn bit(flag: i32) -> u32 {
    flag.trailing_zeros()
}

/// Emits the computation of the scratchpad addresses from what the last iteration left in the lane.
fn first_addresses(assembler: &mut Assembler, configuration: &Configuration) {
    let [first, second, ..] = configuration.read_registers.map(r);
    let (mix, old) = (T[0], [T[1], T[2]]);
    assembler.eor(mix, first, second);
    for (register, index) in old.into_iter().zip([0, 1]) {
        assembler.ldr32(register, LANE, LANE_ADDRESSES + 4 * index);
    }
    assembler.eor32(ADDRESSES[0], old[0], mix);
    assembler.eor_shifted(ADDRESSES[1], old[1], mix, Shift::Lsr(32));
    for address in ADDRESSES {
        assembler.and_mask32(address, address, L3_MASK_64);
    }
}

/// Emits the computation of the next iteration's scratchpad addresses.
fn next_addresses(assembler: &mut Assembler, configuration: &Configuration) {
    let [first, second, ..] = configuration.read_registers.map(r);
    let mix = T[0];
    assembler.eor(mix, first, second);
    assembler.and_mask32(ADDRESSES[0], mix, L3_MASK_64);
    assembler.lsr(mix, mix, 32);
    assembler.and_mask32(ADDRESSES[1], mix, L3_MASK_64);
}

/// Emits loads of the scratchpad addresses from the lane, and masks them: the interpreter may have begun the iteration,
/// and leaves addresses without masks.
fn load_addresses(assembler: &mut Assembler) {
    for (register, index) in ADDRESSES.into_iter().zip([0, 1]) {
        assembler.ldr32(register, LANE, LANE_ADDRESSES + 4 * index);
        assembler.and_mask32(register, register, L3_MASK_64);
    }
}

fn store_addresses(assembler: &mut Assembler, addresses: [Gpr; 2]) {
    for (register, index) in addresses.into_iter().zip([0, 1]) {
        assembler.str32(register, LANE, LANE_ADDRESSES + 4 * index);
    }
}

/// Emits XORs of the integer registers with 64 bytes.
fn xor_line(assembler: &mut Assembler, line: Gpr) {
    for i in [0, 2, 4, 6] {
        // Two pairs of temporaries, so that loads need not wait for XORs.
        let (one, other) = if i & 2 == 0 { (T[0], T[2]) } else { (T[3], T[2]) };
        assembler.ldp(one, other, line, 8 * i32::from(i));
        assembler.eor(r(i), r(i), one);
        assembler.eor(r(i + 1), r(i + 1), other);
    }
}

/// Emits conversions of the 64 bytes at [`POINTER`] to groups F and E.
fn load_floats_from_line(assembler: &mut Assembler) {
    let [a, b, c, d] = LINE;
    assembler.ldp_q(a, b, POINTER, 0);
    assembler.ldp_q(c, d, POINTER, 32);
    let registers: [Neon; 8] = [f(0), f(1), f(2), f(3), e(0), e(1), e(2), e(3)];
    for (pair, line) in registers.chunks_exact(2).zip(LINE) {
        assembler.sxtl(pair[0], line);
        assembler.sxtl2(pair[1], line);
    }
    registers.iter().for_each(|&register| assembler.scvtf(register, register));
    (0..4).for_each(|i| assembler.bif(e(i), E_MASK, E_CONVERTED));
}

/// Emits the XOR of step 5. The item's address is then in the upper half of [`MA_MX`] in v1. In v2 it
/// is in [`POINTER`], masked, and the halves of [`MA_MX`] are still to be exchanged.
fn mix_item_address(assembler: &mut Assembler, configuration: &Configuration, version: Version) {
    let [.., third, fourth] = configuration.read_registers.map(r);
    assembler.eor32(T[0], third, fourth);
    match version {
        Version::V1 => assembler.eor_shifted(MA_MX, T[0], MA_MX, Shift::Ror(32)),
        Version::V2 => {
            assembler.and_mask32(POINTER, MA_MX, ITEM_ADDRESS_MASK);
            assembler.eor(MA_MX, MA_MX, T[0]);
        }
    }
}

/// Emits the prefetch of the next item, and this iteration's item in [`POINTER`].
fn find_item(assembler: &mut Assembler, version: Version) {
    assembler.and_mask32(T[0], MA_MX, ITEM_ADDRESS_MASK);
    assembler.prfm_indexed(Prefetch::Stream, ITEMS, T[0]);
    match version {
        Version::V1 => {
            assembler.and_mask(POINTER, MA_MX, u64::from(ITEM_ADDRESS_MASK) << 32);
            assembler.add_shifted(POINTER, ITEMS, POINTER, Shift::Lsr(32));
        }
        Version::V2 => {
            assembler.add(POINTER, ITEMS, POINTER);
            assembler.ror(MA_MX, MA_MX, 32);
        }
    }
}

/// Emits a store of the item's address, for the caller.
fn store_item_address(assembler: &mut Assembler, version: Version) {
    match version {
        Version::V1 => assembler.lsr(POINTER, MA_MX, 32),
        Version::V2 => assembler.ror(MA_MX, MA_MX, 32),
    }
    assembler.str32(POINTER, LANE, offset_of!(Lane, item_address));
}

/// Emits step 10 of v2 with AES instructions.
///
/// They XOR the key first, AesEncrypt and AesDecrypt last. So each round has the key of the one
/// before it, the first has none, and the last key follows.
fn mix_by_aes(assembler: &mut Assembler) {
    let [zero, ..] = LINE;
    assembler.clear(zero);
    for key in [zero, e(0), e(1), e(2)] {
        for i in [0, 2] {
            assembler.aese(f(i), key);
            assembler.aesmc(f(i), f(i));
            assembler.aesd(f(i + 1), key);
            assembler.aesimc(f(i + 1), f(i + 1));
        }
    }
    (0..4).for_each(|i| assembler.eor_v(f(i), f(i), e(3)));
}

/// Emits step 10 of v2 without AES instructions: a call to Rust. Registers that it may change are
/// saved around it, on the stack or in the lane.
fn mix_in_software(assembler: &mut Assembler) {
    const SAVED: [[Gpr; 2]; 3] =
        [[LANE, SCRATCHPAD], [ITEMS, Gpr::x(30)], [ADDRESSES[0], ADDRESSES[1]]];
    const BYTES: i32 = 16 * SAVED.len() as i32;
    extern "C" fn mix(lane: &mut Lane) {
        lane.mix_f_with_e(Aes::new(Cpu::baseline()));
    }
    let [[lane, scratchpad], others @ ..] = SAVED;
    store_lane(assembler);
    assembler.push(lane, scratchpad, BYTES);
    for (place, [one, other]) in (16..).step_by(16).zip(others) {
        assembler.stp(one, other, Gpr::SP, place);
    }
    assembler.mov_value(T[0], mix as *const () as u64);
    assembler.blr(T[0]);
    for (place, [one, other]) in (16..).step_by(16).zip(others) {
        assembler.ldp(one, other, Gpr::SP, place);
    }
    assembler.pop(lane, scratchpad, BYTES);
    load_constants(assembler);
    load_lane(assembler);
    load_floats(assembler);
}
