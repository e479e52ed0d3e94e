//! The loop around a program's instructions (specification 4.6.2).

use std::mem::offset_of;

use super::Features;
use super::modes::Modes;
use super::operations::load_group_e;
use super::registers::{ITEMS, LANE, MA_MX, SCRATCHPAD, e, f, r};
use super::turns::{
    Constants, enter, hand_over, lane, load_constants, load_floats, load_lane_vectors,
    return_to_caller, slot, stack, store_lane, store_turn, take_over, test_flag,
};
use crate::aes::Aes;
use crate::cpu::Cpu;
use crate::engine::{ITEM_ADDRESS_MASK, Lane};
use crate::jit::program::flag;
use crate::jit::x86_64::assembler::{Assembler, Condition, Gpr, Label, Mark, Mem, Scale};
use crate::params::Version;
use crate::program::Configuration;
use crate::scratchpad::{L3_MASK_64, Scratchpad};

// The operand of `movaps` in memory is aligned to 16 bytes.
const _: () = assert!(align_of::<Lane>() >= 16 && align_of::<Scratchpad>() >= 16);

/// `spAddr0`, then `spAddr1`.
const ADDRESSES: usize = offset_of!(Lane, addresses);

/// The start of the code, which is the same for all programs.
pub(super) struct Frame {
    constants: Constants,
    modes: Modes,
    /// The offset that another lane's code jumps to.
    takeover: usize,
    prologue: Mark,
}

/// Labels in the loop of one program.
pub(super) struct Places {
    begin: Label,
    end_only: Label,
}

impl Frame {
    /// Emits the start of the code, from the entry on.
    pub(super) fn begin(assembler: &mut Assembler, features: Features) -> Frame {
        let over = assembler.label();
        assembler.jmp(over);
        let constants = Constants::emit(assembler);
        let modes = Modes::emit(assembler, features.loads);
        assembler.bind(over);
        enter(assembler);
        load_constants(assembler, constants);
        assembler.mov(Gpr::Rcx, stack(slot::FIRST));
        let takeover = assembler.position().offset();
        take_over(assembler, modes);
        Frame { constants, modes, takeover, prologue: assembler.mark() }
    }

    /// Returns the offset that another lane's code jumps to, with this lane's link in `rcx`.
    pub(super) fn takeover(&self) -> usize {
        self.takeover
    }

    /// Returns how the code changes the rounding mode.
    pub(super) fn modes(&self) -> Modes {
        self.modes
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
        choose_item(assembler, configuration, version);
        test_flag(assembler, flag::DATASET);
        assembler.jcc(Condition::Zero, without_dataset);
        assembler.and32(Gpr::Rcx, ITEM_ADDRESS_MASK as i32);
        prefetch_item(assembler);
        assembler.and32(Gpr::Rdx, ITEM_ADDRESS_MASK as i32);
        assembler.lea(Gpr::Rcx, Mem::indexed(ITEMS, Gpr::Rdx, Scale::One, 0));

        assembler.bind(end);
        // Another engine may have begun the iteration, and leave addresses without masks.
        assembler.mov32(Gpr::Rdx, lane(ADDRESSES));
        assembler.and32(Gpr::Rdx, L3_MASK_64 as i32);
        assembler.mov32(Gpr::Rax, lane(ADDRESSES + 4));
        assembler.and32(Gpr::Rax, L3_MASK_64 as i32);
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
        // Prefetches the next iteration's lines while other lanes have their turns.
        assembler.xor32(Gpr::Rax, Gpr::Rax);
        assembler.store(lane(ADDRESSES), Gpr::Rax);
        mix_addresses(assembler, configuration);
        assembler.prefetcht0(scratchpad(Gpr::Rdx, 0));
        assembler.prefetcht0(scratchpad(Gpr::Rax, 0));
        test_flag(assembler, flag::ALONE);
        assembler.jcc(Condition::NotZero, alone);

        assembler.bind(turn_over);
        store_turn(assembler);
        hand_over(assembler);

        assembler.bind(alone);
        assembler.dec(stack(slot::TURNS));
        assembler.jcc(Condition::NotZero, places.begin);
        return_to_caller(assembler);

        // Without a dataset, the caller has passed the item, or the turn ends before it is needed.
        assembler.bind(without_dataset);
        test_flag(assembler, flag::END);
        assembler.jcc(Condition::Zero, turn_over);
        assembler.mov(Gpr::Rcx, ITEMS);
        assembler.jmp(end);

        assembler.bind(places.end_only);
        load_floats(assembler);
        assembler.mov(Gpr::Rcx, ITEMS);
        assembler.jmp(end);
    }

    /// Emits step 10 of v2 without AES instructions: a call to Rust, which may change the registers
    /// that are saved around it.
    fn mix_in_software(&self, assembler: &mut Assembler) {
        const VOLATILE: [Gpr; 8] =
            [LANE, SCRATCHPAD, Gpr::Rax, Gpr::Rdx, Gpr::R8, Gpr::R9, Gpr::R10, Gpr::R11];
        extern "sysv64" fn mix(lane: &mut Lane) {
            lane.mix_f_with_e(Aes::new(Cpu::baseline()));
        }
        store_lane(assembler);
        VOLATILE.iter().for_each(|&register| assembler.push(register));
        assembler.mov_immediate(Gpr::Rax, mix as *const () as u64);
        assembler.call(Gpr::Rax);
        VOLATILE.iter().rev().for_each(|&register| assembler.pop(register));
        load_constants(assembler, self.constants);
        load_lane_vectors(assembler);
        load_floats(assembler);
    }
}

/// Emits the computation of an iteration's scratchpad addresses: `spAddr0` in `rdx` and `spAddr1`
/// in `rax`, masked.
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

/// Emits steps 5, 6 and 8. This iteration's item address is left in `edx` and in the lane, and the
/// address to prefetch in `ecx`, both not masked yet.
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

/// Emits the prefetch of an item, whose masked offset from [`ITEMS`] is in `rcx`, with the call's flags in `eax`. With
/// [`flag::PAIRS`], a turn postpones its prefetch, and the next turn prefetches both items in a row. The code overwrites
/// `rax` and `rcx`.
fn prefetch_item(assembler: &mut Assembler) {
    let (both, own, end) = (assembler.label(), assembler.label(), assembler.label());
    assembler.lea(Gpr::Rcx, Mem::indexed(ITEMS, Gpr::Rcx, Scale::One, 0));
    assembler.test_immediate32(Gpr::Rax, flag::PAIRS as u32);
    assembler.jcc(Condition::Zero, own);
    assembler.mov(Gpr::Rax, stack(slot::POSTPONED));
    assembler.test(Gpr::Rax, Gpr::Rax);
    assembler.jcc(Condition::NotZero, both);
    assembler.store(stack(slot::POSTPONED), Gpr::Rcx);
    assembler.jmp(end);

    assembler.bind(both);
    assembler.prefetchnta(Mem::new(Gpr::Rax, 0));
    assembler.xor32(Gpr::Rax, Gpr::Rax);
    assembler.store(stack(slot::POSTPONED), Gpr::Rax);
    assembler.bind(own);
    assembler.prefetchnta(Mem::new(Gpr::Rcx, 0));
    assembler.bind(end);
}

/// Emits step 10 of v2 with AES instructions.
fn mix_by_aes(assembler: &mut Assembler) {
    for key in (0..4).map(e) {
        assembler.aesenc(f(0), key);
        assembler.aesdec(f(1), key);
        assembler.aesenc(f(2), key);
        assembler.aesdec(f(3), key);
    }
}

fn scratchpad(address: Gpr, offset: u8) -> Mem {
    Mem::indexed(SCRATCHPAD, address, Scale::One, i32::from(offset))
}
