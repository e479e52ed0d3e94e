//! SuperscalarHash on several items at once, in vectors.

use super::arithmetic::{Arithmetic, Combine, Group, Set};
use super::kernel::{ITEMS, LAST_ARGUMENT, LINE, LINE_MASK, LINE_SHIFT, LINES, NUMBERS, Pool};
use super::lanes::Lanes;
use crate::jit::x86_64::assembler::{Assembler, Condition, Gpr, Mem, Position, Scale, Ymm};
use crate::superscalar::{ITEM_CONSTANTS, ITEM_MULTIPLIER, Program};

/// Bytes of a vector of AVX2, and of the registers of a group.
const VECTOR: i32 = 8 * Ymm::LANES as i32;
pub(super) const STATE: i32 = 8 * VECTOR;

/// Bytes on the stack for the line offsets of a group.
const OFFSETS: i32 = 64;
/// Operations between two prefetches.
const PREFETCH_DISTANCE: usize = 12;

/// The function during which the items' own lines are fetched, to be written at the end of the next
/// function. In a new dataset they are in no cache, and waiting for them takes a tenth of the time.
const FETCH_ITEMS_AT: usize = 6;

/// Emits a kernel that computes `groups` vectors of items side by side: each operation for all groups,
/// so that one group computes while another waits for its operands. The kernel ignores its last
/// argument.
///
/// The lines for the end of a function are prefetched one by one during its operations. All at
/// once, they fill the buffers for cache misses and stop all other reads, which costs a tenth of
/// the time.
pub(super) fn emit_side_by_side<V: Lanes>(
    a: &mut Assembler,
    pool: &mut Pool,
    programs: &[Program; 8],
    set: Set,
    groups: usize,
) {
    let groups: Vec<Group<V>> = (0..groups).map(|group| registers(group, groups)).collect();
    let offsets = |group: usize| Mem::new(Gpr::Rsp, OFFSETS * group as i32);
    enter(a, OFFSETS * groups.len() as i32);
    let mut e = Arithmetic { a, pool, set };
    for (index, group) in groups.iter().enumerate() {
        let numbers = Mem::new(NUMBERS, (4 * V::LANES * index) as i32);
        begin(&mut e, group, numbers, offsets(index));
    }
    for (index, program) in programs.iter().enumerate() {
        let mut prefetches = prefetches(groups.len(), V::LANES, offsets);
        let mut items = 0..if index == FETCH_ITEMS_AT { groups.len() * V::LANES } else { 0 };
        for (at, instruction) in program.instructions.iter().enumerate() {
            if at % PREFETCH_DISTANCE == 0
                && let Some(offset) = prefetches.next()
            {
                prefetch(e.a, offset);
            }
            if at % PREFETCH_DISTANCE == PREFETCH_DISTANCE / 2
                && let Some(item) = items.next()
            {
                e.a.prefetchw(Mem::new(ITEMS, LINE * item as i32));
            }
            for group in &groups {
                e.operation(group, instruction);
            }
        }
        for (lane, group) in groups.iter().enumerate() {
            V::mix(e.a, group.r, group.free, LINES, offsets(lane));
            if index + 1 < programs.len() {
                next_offsets(&mut e, group, program, offsets(lane));
            }
        }
    }
    for (index, group) in groups.iter().enumerate() {
        let items = Mem::new(ITEMS, LINE * (V::LANES * index) as i32);
        V::store(e.a, group.r, group.free, items);
    }
    leave(e.a);
}

/// The most vectors of items that a kernel of [`emit_in_turn`] computes.
pub(super) const TURNS: usize = 4;

/// Emits a kernel that computes one vector of items after the other, and each function for all of
/// them before the next function. It is for processors with too few registers for two groups. The
/// kernel's last argument is the number of vectors, 1 to [`TURNS`].
///
/// The lines for the end of each function but the first are prefetched together after the function before: up to 16
/// lines. An AMD Zen 3 with other data in its second-level cache took 12 % less time that way.
pub(super) fn emit_in_turn(a: &mut Assembler, pool: &mut Pool, programs: &[Program; 8]) {
    let (turns, place) = (Gpr::R9, Gpr::R8);
    let group = only_group();
    let offsets = Mem::new(place, STATE);
    enter(a, TURNS as i32 * (STATE + OFFSETS));
    let mut e = Arithmetic { a, pool, set: Set::Avx2 };
    for (index, program) in programs.iter().enumerate() {
        e.a.mov(turns, LAST_ARGUMENT);
        e.a.mov(place, Gpr::Rsp);
        let again = aligned(e.a);
        e.zero(&group);
        if index == 0 {
            begin(&mut e, &group, Mem::new(NUMBERS, 0), offsets);
            e.a.add(NUMBERS, 4 * Ymm::LANES as i32);
            prefetch_lines(e.a, offsets);
        } else {
            load(e.a, &group, place);
        }
        for instruction in &program.instructions {
            e.operation(&group, instruction);
        }
        Ymm::mix(e.a, group.r, group.free, LINES, offsets);
        if index + 1 < programs.len() {
            next_offsets(&mut e, &group, program, offsets);
            store(e.a, &group, place);
        } else {
            Ymm::store(e.a, group.r, group.free, Mem::new(ITEMS, 0));
            e.a.add(ITEMS, LINE * Ymm::LANES as i32);
        }
        e.a.add(place, STATE + OFFSETS);
        e.a.dec(turns);
        e.a.jcc_back(Condition::NotZero, again);
        if index + 1 < programs.len() {
            e.a.mov(turns, LAST_ARGUMENT);
            e.a.mov(place, Gpr::Rsp);
            let again = e.a.position();
            prefetch_lines(e.a, offsets);
            e.a.add(place, STATE + OFFSETS);
            e.a.dec(turns);
            e.a.jcc_back(Condition::NotZero, again);
        }
    }
    leave(e.a);
}

/// Returns the registers of the only group of AVX2. The shortest code has two of the vectors for intermediate values
/// among the first eight.
pub(super) fn only_group() -> Group<Ymm> {
    Group { r: [0, 1, 2, 3, 4, 5, 14, 15].map(Ymm), free: [6, 7, 8, 9, 10, 11, 12, 13].map(Ymm) }
}

/// Emits loads of a group's registers from `place`.
pub(super) fn load(a: &mut Assembler, group: &Group<Ymm>, place: Gpr) {
    for (word, register) in (0..).zip(group.r) {
        a.vmovdqu64(register, Mem::new(place, VECTOR * word));
    }
}

/// Emits stores of a group's registers to `place`.
pub(super) fn store(a: &mut Assembler, group: &Group<Ymm>, place: Gpr) {
    for (word, register) in (0..).zip(group.r) {
        a.store_vmovdqu64(Mem::new(place, VECTOR * word), register);
    }
}

/// Returns the registers of one of some groups.
pub(super) fn registers<V: Lanes>(group: usize, groups: usize) -> Group<V> {
    let first = 8 * groups;
    Group {
        r: std::array::from_fn(|index| V::new((8 * group + index) as u8)),
        free: std::array::from_fn(|index| V::new((first + index) as u8)),
    }
}

/// Emits a stack frame, aligned to 64 bytes so that no vector crosses a cache line.
fn enter(a: &mut Assembler, bytes: i32) {
    a.push(Gpr::Rbp);
    a.mov(Gpr::Rbp, Gpr::Rsp);
    a.sub(Gpr::Rsp, bytes);
    a.and(Gpr::Rsp, -LINE);
}

/// Emits the removal of the stack frame, and the return.
fn leave(a: &mut Assembler) {
    a.mov(Gpr::Rsp, Gpr::Rbp);
    a.pop(Gpr::Rbp);
    a.vzeroupper();
    a.ret();
}

pub(super) fn aligned(a: &mut Assembler) -> Position {
    a.align(LINE as usize);
    a.position()
}

/// Emits the initialisation of the registers from the item numbers, and the offsets of their first
/// lines.
pub(super) fn begin<V: Lanes>(e: &mut Arithmetic, group: &Group<V>, numbers: Mem, offsets: Mem) {
    let r0 = group.r[0];
    e.a.vpmovzxdq(r0, numbers);
    store_offsets(e, group, r0, offsets);
    e.constant(Combine::Add, r0, 1);
    e.multiply_constant(group, r0, ITEM_MULTIPLIER);
    for (&register, constant) in group.r.iter().zip(ITEM_CONSTANTS).skip(1) {
        e.a.vmovdqu64(register, r0);
        e.constant(Combine::Xor, register, constant);
    }
}

/// Emits the offsets of the lines for the end of the function after `program`.
pub(super) fn next_offsets<V: Lanes>(
    e: &mut Arithmetic,
    group: &Group<V>,
    program: &Program,
    offsets: Mem,
) {
    let address = group.r[usize::from(program.address_register & 7)];
    store_offsets(e, group, address, offsets);
}

/// Emits the offsets of the lines that `address` selects.
fn store_offsets<V: Lanes>(e: &mut Arithmetic, group: &Group<V>, address: V, offsets: Mem) {
    let [.., offset] = group.free;
    e.a.vpsllq(offset, address, LINE_SHIFT);
    e.constant(Combine::And, offset, u64::from(LINE_MASK as u32) << LINE_SHIFT);
    e.a.store_vmovdqu64(offsets, offset);
}

/// Returns the operands of the line offsets of all lanes of all groups.
fn prefetches(
    groups: usize,
    lanes: usize,
    offsets: impl Fn(usize) -> Mem,
) -> impl Iterator<Item = Mem> {
    let groups = (0..groups).map(offsets);
    groups.flat_map(move |group| (0..lanes).map(move |lane| group.plus(8 * lane as i32)))
}

/// Emits prefetches of the lines of the items of one vector of AVX2.
pub(super) fn prefetch_lines(a: &mut Assembler, offsets: Mem) {
    for lane in 0..Ymm::LANES as i32 {
        prefetch(a, offsets.plus(8 * lane));
    }
}

fn prefetch(a: &mut Assembler, offset: Mem) {
    a.mov(Gpr::Rax, offset);
    a.prefetcht0(Mem::indexed(LINES, Gpr::Rax, Scale::One, 0));
}
