//! SuperscalarHash on some items in vectors and on others in general purpose registers, at once.
//!
//! Without AVX-512 a product of 64 bits takes a vector seven instructions. Such vectors are often not much
//! faster than general purpose registers, but they use other parts of the processor. So both compute
//! items of their own, side by side.

use super::arithmetic::{Arithmetic, Group, Set};
use super::kernel::{ITEMS, LAST_ARGUMENT, LINE, LINES, NUMBERS, Pool};
use super::lanes::Lanes;
use super::scalar::{self, SAVED};
use super::vector;
use crate::jit::x86_64::assembler::{Assembler, Condition, Gpr, Mem, Ymm};
use crate::params::DATASET_BATCH;
use crate::superscalar::{Instruction, Program};

/// Numbers of items in general purpose registers, one after the other, beside one vector. With 4, these registers and
/// the vector take about as long. With 2, the code is shorter, which is faster on an AMD Zen 3 in large batches.
pub(super) const SCALARS: [usize; 2] = [4, 2];

/// Returns the items of a turn.
pub(super) const fn items_per_turn(scalars: usize) -> usize {
    Ymm::LANES + scalars
}

/// Returns the most turns of a call.
pub(super) const fn turns(scalars: usize) -> usize {
    DATASET_BATCH / items_per_turn(scalars)
}

/// The turns whose next lines are prefetched together, a power of two: 12 or 16 lines. An AMD Zen 3 waits for up to 24
/// lines at once.
const FETCHED_TURNS: i32 = 2;

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
    /// The first place whose next lines are not prefetched yet.
    pub(super) const UNFETCHED: i32 = 32;
    pub(super) const PLACES: i32 = 64;
}

/// A place: the vectors, the offsets of their lines, and the items in general purpose registers.
mod place {
    use super::{LINE, vector};

    pub(super) const OFFSETS: i32 = vector::STATE;
    pub(super) const SCALAR: i32 = OFFSETS + LINE;

    pub(super) const fn size(scalars: usize) -> i32 {
        SCALAR + LINE * scalars as i32
    }
}

/// The number of parts of a function. All turns run a part before the next part starts: a processor keeps more of a
/// part decoded than of a whole function. A part has its share of the operations on vectors, and all operations for its
/// share of the other items.
const PARTS: usize = 2;

/// One part of a function.
#[derive(Clone, Copy)]
struct Part<'a> {
    program: &'a Program,
    /// The register that selected the line for the end of this function, or `None` in the first one.
    selected: Option<u8>,
    is_last_function: bool,
    number: usize,
    /// The items in general purpose registers of all parts.
    scalars: usize,
}

/// A step for the items in general purpose registers.
enum Step<'a> {
    Begin(usize),
    Operation(&'a Instruction),
    End(usize),
}

/// Emits a kernel that computes [`items_per_turn`] items in each turn, and each function for all turns
/// before the next function. The kernel's last argument is the number of turns, 1 to [`turns`].
pub(super) fn emit(a: &mut Assembler, pool: &mut Pool, programs: &[Program; 8], scalars: usize) {
    enter(a, scalars);
    let mut selected = None;
    for (index, program) in programs.iter().enumerate() {
        // Only the first function and the last one use the argument.
        let is_last_function = index + 1 == programs.len();
        let (argument, step) =
            if is_last_function { (frame::ITEMS, LINE) } else { (frame::NUMBERS, 4) };
        let address = program.address_register & 7;
        for number in 0..PARTS {
            let part = Part { program, selected, is_last_function, number, scalars };
            let fetches_lines = part.is_last() && !is_last_function;
            a.mov(TURN, slot(frame::TURNS));
            a.mov(ARGUMENT, slot(argument));
            a.lea(PLACE, slot(frame::PLACES));
            if fetches_lines {
                a.store(slot(frame::UNFETCHED), PLACE);
            }
            let again = vector::aligned(a);
            part.emit(&mut Arithmetic { a, pool, set: Set::Avx2 });
            a.add(ARGUMENT, step * items_per_turn(scalars) as i32);
            a.add(PLACE, place::size(scalars));
            a.dec(TURN);
            if fetches_lines {
                a.test_immediate(TURN, FETCHED_TURNS - 1);
                a.jcc_back(Condition::NotZero, again);
                prefetch_places(a, scalars, address);
                a.test(TURN, TURN);
            }
            a.jcc_back(Condition::NotZero, again);
        }
        selected = Some(address);
    }
    leave(a);
}

impl Part<'_> {
    fn is_last(self) -> bool {
        self.number + 1 == PARTS
    }

    fn emit(self, e: &mut Arithmetic) {
        let group = vector::only_group();
        let offsets = Mem::new(PLACE, place::OFFSETS);
        e.zero(&group);
        if self.selected.is_none() && self.number == 0 {
            vector::begin(e, &group, Mem::new(ARGUMENT, 0), offsets);
            vector::prefetch_lines(e.a, offsets);
        } else {
            vector::load(e.a, &group, PLACE);
        }
        self.operations(e, &group);
        if self.is_last() {
            Ymm::mix(e.a, group.r, group.free, LINES, offsets);
            if self.is_last_function {
                return Ymm::store(e.a, group.r, group.free, Mem::new(ARGUMENT, 0));
            }
            vector::next_offsets(e, &group, self.program, offsets);
        }
        vector::store(e.a, &group, PLACE);
    }

    /// Emits the part's operations on the vectors and, evenly among them, the steps for its items.
    fn operations(self, e: &mut Arithmetic, group: &Group<Ymm>) {
        let instructions = &self.program.instructions;
        let share = |all: usize| all * self.number / PARTS..all * (self.number + 1) / PARTS;
        let vectors = &instructions[share(instructions.len())];
        let mut steps: Vec<Step> = Vec::new();
        for item in share(self.scalars) {
            steps.push(Step::Begin(item));
            steps.extend(instructions.iter().map(Step::Operation));
            steps.push(Step::End(item));
        }
        let mut emitted = 0;
        for (at, instruction) in (1..).zip(vectors) {
            e.operation(group, instruction);
            let due = steps.len() * at / vectors.len();
            self.steps(e, &steps[emitted..due]);
            emitted = due;
        }
        // A function with a single operation has none for the vectors of its first part.
        self.steps(e, &steps[emitted..]);
    }

    fn steps(self, e: &mut Arithmetic, steps: &[Step]) {
        for step in steps {
            match (step, self.selected) {
                (&Step::Begin(item), None) => {
                    let number = Mem::new(ARGUMENT, 4 * (Ymm::LANES + item) as i32);
                    scalar::begin(e.a, e.pool, number);
                    scalar::prefetch_own_line(e.a);
                }
                (&Step::Begin(item), Some(address)) => {
                    scalar::load(e.a, scalar_place(item), address);
                }
                (Step::Operation(instruction), _) => {
                    scalar::operation(e.a, e.pool, instruction);
                }
                (&Step::End(item), _) => {
                    scalar::mix(e.a);
                    scalar::store(e.a, self.result(item));
                }
            }
        }
    }

    /// Returns where the function stores an item.
    fn result(self, item: usize) -> Mem {
        if self.is_last_function {
            Mem::new(ARGUMENT, LINE * (Ymm::LANES + item) as i32)
        } else {
            scalar_place(item)
        }
    }
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

/// Emits prefetches of the next lines of the items in the places from `UNFETCHED` to the one before `PLACE`. Overwrites
/// `rax`, `r8` and `r9`.
fn prefetch_places(a: &mut Assembler, scalars: usize, address: u8) {
    let (unfetched, bytes) = (Gpr::R8, Gpr::R9);
    a.mov(unfetched, slot(frame::UNFETCHED));
    a.mov(bytes, PLACE);
    a.sub(bytes, unfetched);
    let again = a.position();
    vector::prefetch_lines(a, Mem::new(unfetched, place::OFFSETS));
    for item in 0..scalars as i32 {
        scalar::prefetch(a, Mem::new(unfetched, place::SCALAR + LINE * item), address);
    }
    a.add(unfetched, place::size(scalars));
    a.sub(bytes, place::size(scalars));
    a.jcc_back(Condition::NotZero, again);
    a.store(slot(frame::UNFETCHED), unfetched);
}

fn slot(offset: i32) -> Mem {
    Mem::new(Gpr::Rsp, offset)
}

fn scalar_place(item: usize) -> Mem {
    Mem::new(PLACE, place::SCALAR + LINE * item as i32)
}
