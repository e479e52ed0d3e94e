//! SuperscalarHash on some items in vectors and on others in general purpose registers, at once.
//!
//! Without AVX-512 a product of 64 bits takes a vector eight instructions. Such vectors need as much
//! time for an item as general purpose registers, but other parts of the processor. So both compute
//! items of their own, side by side.

use std::iter;

use super::arithmetic::{Arithmetic, Group, Set};
use super::kernel::{ITEMS, LAST_ARGUMENT, LINE, LINES, NUMBERS, Pool};
use super::lanes::Lanes;
use super::scalar::{self, SAVED};
use super::vector;
use crate::jit::x86_64::assembler::{Assembler, Condition, Gpr, Mem, Ymm};
use crate::params::DATASET_BATCH;
use crate::superscalar::{Instruction, Program};

/// Numbers of items in general purpose registers, one after the other, beside one vector. With 4, both parts of a
/// processor take about as long. With 2, the code is short enough for the decoded instructions that an AMD Zen 3 keeps.
pub(super) const SCALARS: [usize; 2] = [4, 2];

/// Returns the items of a turn.
pub(super) const fn items_per_turn(scalars: usize) -> usize {
    Ymm::LANES + scalars
}

/// Returns the most turns of a call.
pub(super) const fn turns(scalars: usize) -> usize {
    DATASET_BATCH / items_per_turn(scalars)
}

/// The memory of the present turn.
const PLACE: Gpr = Gpr::Rsi;
/// The turns left.
const TURN: Gpr = Gpr::Rbp;
/// The turn's numbers in the first function, its items in the last one.
const ARGUMENT: Gpr = Gpr::Rcx;

/// The stack frame: the caller's stack pointer, the arguments, and the places of the turns.
mod frame {
    pub(super) const CALLER: i32 = 0;
    pub(super) const NUMBERS: i32 = 8;
    pub(super) const ITEMS: i32 = 16;
    pub(super) const TURNS: i32 = 24;
    pub(super) const PLACES: i32 = 64;
}

/// A place: the vectors, the offsets of their lines, and the items in general purpose registers.
mod place {
    use super::LINE;

    pub(super) const VECTOR: i32 = 32;
    pub(super) const OFFSETS: i32 = 8 * VECTOR;
    pub(super) const SCALAR: i32 = OFFSETS + LINE;

    pub(super) const fn size(scalars: usize) -> i32 {
        SCALAR + LINE * scalars as i32
    }
}

/// A part of a function for the items in general purpose registers.
enum Step<'a> {
    Begin(usize),
    Operation(&'a Instruction),
    End(usize),
}

/// Emits a kernel that computes [`items_per_turn`] items in each turn, and each function for all turns
/// before the next function. The kernel's last argument is the number of turns, 1 to [`turns`].
pub(super) fn emit(a: &mut Assembler, pool: &mut Pool, programs: &[Program; 8], scalars: usize) {
    enter(a, scalars);
    let items = LINE * items_per_turn(scalars) as i32;
    let group: Group<Ymm> = vector::registers(0, 1);
    let offsets = Mem::new(PLACE, place::OFFSETS);
    let mut before = None;
    for (index, program) in programs.iter().enumerate() {
        let (is_first, is_last) = (index == 0, index + 1 == programs.len());
        a.mov(TURN, slot(frame::TURNS));
        a.lea(PLACE, slot(frame::PLACES));
        let again = vector::aligned(a);
        let mut e = Arithmetic { a, pool, set: Set::Avx2 };
        if is_first {
            e.a.mov(ARGUMENT, slot(frame::NUMBERS));
            vector::begin(&mut e, &group, Mem::new(ARGUMENT, 0), offsets);
            prefetch_lines(e.a, offsets);
        } else {
            for (word, register) in (0..).zip(group.r) {
                e.a.vmovdqu64(register, Mem::new(PLACE, place::VECTOR * word));
            }
        }
        if is_last {
            e.a.mov(ARGUMENT, slot(frame::ITEMS));
        }

        let address = program.address_register & 7;
        let mut steps = steps(program, scalars);
        let (all, mut emitted) = (scalars * (program.instructions.len() + 2), 0);
        for (at, instruction) in (1..).zip(&program.instructions) {
            e.operation(&group, instruction);
            let due = all * at / program.instructions.len();
            for step in steps.by_ref().take(due - emitted) {
                match step {
                    Step::Begin(item) => match before {
                        None => {
                            let number = Mem::new(ARGUMENT, 4 * (Ymm::LANES + item) as i32);
                            scalar::begin(e.a, e.pool, number);
                        }
                        Some(address) => scalar::load(e.a, scalar_place(item), address),
                    },
                    Step::Operation(instruction) => scalar::operation(e.a, e.pool, instruction),
                    Step::End(item) if is_last => {
                        let item = LINE * (Ymm::LANES + item) as i32;
                        scalar::end(e.a, Mem::new(ARGUMENT, item), None);
                    }
                    Step::End(item) => scalar::end(e.a, scalar_place(item), Some(address)),
                }
            }
            emitted = due;
        }

        Ymm::mix(e.a, group.r, group.free, LINES, offsets);
        if is_last {
            Ymm::store(e.a, group.r, group.free, Mem::new(ARGUMENT, 0));
            e.a.add(ARGUMENT, items);
            e.a.store(slot(frame::ITEMS), ARGUMENT);
        } else {
            vector::next_offsets(&mut e, &group, program, offsets);
            prefetch_lines(e.a, offsets);
            for (word, register) in (0..).zip(group.r) {
                e.a.store_vmovdqu64(Mem::new(PLACE, place::VECTOR * word), register);
            }
        }
        if is_first {
            e.a.add(ARGUMENT, 4 * items_per_turn(scalars) as i32);
            e.a.store(slot(frame::NUMBERS), ARGUMENT);
        }
        e.a.add(PLACE, place::size(scalars));
        e.a.dec(TURN);
        e.a.jcc_back(Condition::NotZero, again);
        before = Some(address);
    }
    leave(a);
}

/// Returns the steps of a function: for one item after the other, all of its operations.
fn steps(program: &Program, scalars: usize) -> impl Iterator<Item = Step<'_>> {
    (0..scalars).flat_map(|item| {
        let operations = program.instructions.iter().map(Step::Operation);
        iter::once(Step::Begin(item)).chain(operations).chain([Step::End(item)])
    })
}

/// The least size of a page of memory.
const PAGE: i32 = 4096;

/// Emits the stack frame, aligned to a cache line. Windows extends a stack when the page below those in
/// use is touched, so no touch may be more than a page below the last one.
pub(super) fn enter(a: &mut Assembler, scalars: usize) {
    for register in SAVED {
        a.push(register);
    }
    a.mov(Gpr::Rax, Gpr::Rsp);
    let mut bytes = frame::PLACES + place::size(scalars) * turns(scalars) as i32;
    while bytes + LINE > PAGE {
        a.sub(Gpr::Rsp, PAGE);
        a.store(slot(0), Gpr::Rax);
        bytes -= PAGE;
    }
    a.sub(Gpr::Rsp, bytes);
    a.and(Gpr::Rsp, -LINE);
    a.store(slot(frame::CALLER), Gpr::Rax);
    a.store(slot(frame::NUMBERS), NUMBERS);
    a.store(slot(frame::ITEMS), ITEMS);
    a.store(slot(frame::TURNS), LAST_ARGUMENT);
}

fn leave(a: &mut Assembler) {
    a.mov(Gpr::Rsp, slot(frame::CALLER));
    for register in SAVED.into_iter().rev() {
        a.pop(register);
    }
    a.vzeroupper();
    a.ret();
}

fn prefetch_lines(a: &mut Assembler, offsets: Mem) {
    for lane in 0..Ymm::LANES as i32 {
        vector::prefetch(a, offsets.plus(8 * lane));
    }
}

fn slot(offset: i32) -> Mem {
    Mem::new(Gpr::Rsp, offset)
}

fn scalar_place(item: usize) -> Mem {
    Mem::new(PLACE, place::SCALAR + LINE * item as i32)
}
