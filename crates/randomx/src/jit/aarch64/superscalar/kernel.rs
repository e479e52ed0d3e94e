//! The code of the functions of a key.

use crate::jit::aarch64::assembler::{
    Assembler, Condition, Gpr, Label, Position, Prefetch, Shift, logical_immediate,
};
use crate::params::{CACHE_ACCESSES, CACHE_SIZE};
use crate::reciprocal::reciprocal;
use crate::superscalar::{ITEM_CONSTANTS, ITEM_MULTIPLIER, Instruction, Kind, Program};

/// The address of the cache's lines.
const LINES: Gpr = Gpr::x(0);
/// The address of the next item's number, in the first function.
const NUMBER: Gpr = Gpr::x(1);
/// The address of the first item.
const ITEMS: Gpr = Gpr::x(2);
/// The number of groups.
const COUNT: Gpr = Gpr::x(3);
/// The address of the function's next literal.
const LITERAL: Gpr = Gpr::x(4);
/// The address of the current group's first item.
const ITEM: Gpr = Gpr::x(5);
/// The number of groups left.
const LEFT: Gpr = Gpr::x(6);
/// Literals, two pairs in turn. At the ends of functions, temporaries.
const LOADED: [[Gpr; 2]; 2] = [[Gpr::x(27), Gpr::x(28)], [Gpr::x(30), Gpr::x(7)]];

/// `r0` to `r7` of the items of a group.
const REGISTERS: [[Gpr; 8]; 2] = [row(8), row(19)];
/// The lines of the cache that are mixed into the items at the end of the function.
const OWN_LINES: [Gpr; 2] = [Gpr::x(16), Gpr::x(17)];

/// The registers that are used here and that the calling convention preserves, by pairs, and the frame
/// pointer.
const SAVED: [[Gpr; 2]; 6] = [
    [Gpr::x(29), Gpr::x(30)],
    [Gpr::x(19), Gpr::x(20)],
    [Gpr::x(21), Gpr::x(22)],
    [Gpr::x(23), Gpr::x(24)],
    [Gpr::x(25), Gpr::x(26)],
    [Gpr::x(27), Gpr::x(28)],
];
const FRAME: i32 = 16 * SAVED.len() as i32;

/// The binary logarithm of [`LINE`].
const LINE_SHIFT: u8 = 6;
/// Bytes of a line of the cache, and of an item.
const LINE: i32 = 1 << LINE_SHIFT;
/// The number of bits that select a line of the cache.
const LINE_BITS: u8 = CACHE_SIZE.ilog2() as u8 - LINE_SHIFT;

/// Returns eight registers from `first` on.
const fn row(first: u8) -> [Gpr; 8] {
    let mut registers = [Gpr::x(first); 8];
    let mut index = 0;
    while index < registers.len() {
        registers[index] = Gpr::x(first + index as u8);
        index += 1;
    }
    registers
}

/// Emits the kernel for one item at a time and the kernel for two. Returns where they begin.
pub(in crate::jit::aarch64) fn emit(
    a: &mut Assembler,
    programs: &[Program; CACHE_ACCESSES],
) -> [Position; 2] {
    let pools: [Pool; CACHE_ACCESSES] =
        std::array::from_fn(|index| Pool::new(a, index == 0, &programs[index]));
    let starts = [1, 2].map(|width| emit_kernel(a, programs, &pools, width));
    for pool in pools {
        a.align(LINE as usize);
        a.bind(pool.label);
        pool.literals.iter().for_each(|&literal| a.data(literal));
    }
    starts
}

/// Emits a kernel that computes groups of `width` items.
fn emit_kernel(
    a: &mut Assembler,
    programs: &[Program; CACHE_ACCESSES],
    pools: &[Pool; CACHE_ACCESSES],
    width: usize,
) -> Position {
    a.align(LINE as usize);
    let start = a.position();
    let [[frame_pointer, return_address], others @ ..] = SAVED;
    a.push(frame_pointer, return_address, FRAME);
    a.add_value(frame_pointer, Gpr::SP, 0, LITERAL);
    for (place, [one, other]) in (16..).step_by(16).zip(others) {
        a.stp(one, other, Gpr::SP, place);
    }
    let group = Group { registers: &REGISTERS[..width], lines: &OWN_LINES[..width] };
    group.prefetch_first_lines(a);
    let mut before = None;
    for (program, pool) in programs.iter().zip(pools) {
        a.mov(ITEM, ITEMS);
        a.mov(LEFT, COUNT);
        a.align(32);
        let next_group = a.position();
        let mut literals = Literals::begin(a, pool);
        match before {
            None => group.begin(a, &mut literals),
            Some(address) => group.load(a, address),
        }
        for instruction in &program.instructions {
            group.operation(a, &mut literals, instruction);
        }
        group.mix_lines(a);
        let address = usize::from(program.address_register & 7);
        let is_last = std::ptr::eq(program, &programs[CACHE_ACCESSES - 1]);
        group.store(a, (!is_last).then_some(address));
        a.add_value(ITEM, ITEM, i64::from(LINE) * width as i64, LITERAL);
        a.decrement(LEFT, LEFT);
        a.b_if_back(Condition::NotZero, next_group);
        before = Some(address);
    }
    for (place, [one, other]) in (16..).step_by(16).zip(others) {
        a.ldp(one, other, Gpr::SP, place);
    }
    a.pop(frame_pointer, return_address, FRAME);
    a.ret();
    start
}

/// The literals of a function, in the order of their use.
struct Pool {
    label: Label,
    literals: Vec<u64>,
}

impl Pool {
    /// Collects the literals of a function. The first function initialises the registers too.
    fn new(a: &mut Assembler, is_first: bool, program: &Program) -> Pool {
        let mut literals = Vec::new();
        if is_first {
            literals.push(ITEM_MULTIPLIER);
            literals.extend(&ITEM_CONSTANTS[1..]);
        }
        literals.extend(program.instructions.iter().filter_map(literal));
        Pool { label: a.label(), literals }
    }
}

/// Returns the operand that an instruction takes from memory.
fn literal(instruction: &Instruction) -> Option<u64> {
    let constant = i64::from(instruction.imm32 as i32);
    match instruction.kind {
        Kind::IaddC7 | Kind::IaddC8 | Kind::IaddC9 => {
            let magnitude = constant.unsigned_abs();
            let short = magnitude < 1 << 12 || magnitude & 0xfff == 0 && magnitude < 1 << 24;
            (!short).then_some(constant as u64)
        }
        Kind::IxorC7 | Kind::IxorC8 | Kind::IxorC9 => {
            let short = constant == 0 || logical_immediate(constant as u64).is_some();
            (!short).then_some(constant as u64)
        }
        // 0 and powers of two have no reciprocal: the operation does nothing.
        Kind::ImulRcp => reciprocal(instruction.imm32),
        _ => None,
    }
}

/// A function's literals on their way into registers. A pair is loaded when the one before it is
/// first used.
struct Literals {
    used: usize,
    count: usize,
}

impl Literals {
    /// Emits the load of the first pair.
    fn begin(a: &mut Assembler, pool: &Pool) -> Literals {
        let literals = Literals { used: 0, count: pool.literals.len() };
        if literals.count > 0 {
            a.adr(LITERAL, pool.label);
            literals.load(a, 0);
        }
        literals
    }

    /// Returns the register of the next literal.
    fn next(&mut self, a: &mut Assembler) -> Gpr {
        let index = self.used;
        self.used += 1;
        if index.is_multiple_of(2) {
            self.load(a, index + 2);
        }
        LOADED[index / 2 % 2][index % 2]
    }

    /// Emits the load of the pair that begins at `index`, if there is one.
    fn load(&self, a: &mut Assembler, index: usize) {
        let [one, other] = LOADED[index / 2 % 2];
        match self.count.saturating_sub(index) {
            0 => {}
            1 => a.ldr_next(one, LITERAL),
            _ => a.ldp_next(one, other, LITERAL),
        }
    }
}

/// Items that are computed side by side: each operation for all of them.
struct Group<'a> {
    registers: &'a [[Gpr; 8]],
    lines: &'a [Gpr],
}

impl Group<'_> {
    /// Emits prefetches of the lines that the first function mixes in at its end, for all groups. If each group
    /// prefetched its lines when its first function begins, that function alone would be too short to hide the latency.
    fn prefetch_first_lines(&self, a: &mut Assembler) {
        let number = ITEM;
        a.mov(number, NUMBER);
        a.mov(LEFT, COUNT);
        let next_group = a.position();
        for (registers, &line) in self.registers.iter().zip(self.lines) {
            a.ldr32_next(registers[0], number);
            own_line(a, line, registers[0]);
            a.prfm(Prefetch::Keep, line, 0);
        }
        a.decrement(LEFT, LEFT);
        a.b_if_back(Condition::NotZero, next_group);
    }

    /// Emits the initialisation of the registers from the items' numbers.
    fn begin(&self, a: &mut Assembler, literals: &mut Literals) {
        for (registers, &line) in self.registers.iter().zip(self.lines) {
            a.ldr32_next(registers[0], NUMBER);
            own_line(a, line, registers[0]);
            a.add_value(registers[0], registers[0], 1, LITERAL);
        }
        let multiplier = literals.next(a);
        for registers in self.registers {
            a.mul(registers[0], registers[0], multiplier);
        }
        for index in 1..8 {
            let constant = literals.next(a);
            for registers in self.registers {
                a.eor(registers[index], registers[0], constant);
            }
        }
    }

    /// Emits loads of the registers. Register `address` selects the line.
    fn load(&self, a: &mut Assembler, address: usize) {
        for (place, registers) in (0..).step_by(LINE as usize).zip(self.registers) {
            for index in [0, 2, 4, 6] {
                let place = place + 8 * index as i32;
                a.ldp(registers[index], registers[index + 1], ITEM, place);
            }
        }
        for (registers, &line) in self.registers.iter().zip(self.lines) {
            own_line(a, line, registers[address]);
        }
    }

    /// Emits XORs of the registers with the items' lines.
    fn mix_lines(&self, a: &mut Assembler) {
        for index in [0, 2, 4, 6] {
            for ((registers, &line), [one, other]) in
                self.registers.iter().zip(self.lines).zip(LOADED)
            {
                a.ldp(one, other, line, 8 * index as i32);
                a.eor(registers[index], registers[index], one);
                a.eor(registers[index + 1], registers[index + 1], other);
            }
        }
    }

    /// Emits stores of the registers, and prefetches of the lines that register `address` selects.
    fn store(&self, a: &mut Assembler, address: Option<usize>) {
        if let Some(address) = address {
            for (registers, [offset, _]) in self.registers.iter().zip(LOADED) {
                a.ubfiz(offset, registers[address], LINE_SHIFT, LINE_BITS);
                a.prfm_indexed(Prefetch::Keep, LINES, offset);
            }
        }
        for (place, registers) in (0..).step_by(LINE as usize).zip(self.registers) {
            for index in [0, 2, 4, 6] {
                let place = place + 8 * index as i32;
                a.stp(registers[index], registers[index + 1], ITEM, place);
            }
        }
    }

    /// Emits one operation.
    fn operation(&self, a: &mut Assembler, literals: &mut Literals, instruction: &Instruction) {
        let literal = literal(instruction).map(|_| literals.next(a));
        let (dst, src) = (usize::from(instruction.dst & 7), usize::from(instruction.src & 7));
        let constant = i64::from(instruction.imm32 as i32);
        for registers in self.registers {
            let (dst, src) = (registers[dst], registers[src]);
            match (instruction.kind, literal) {
                (Kind::IsubR, _) => a.sub(dst, dst, src),
                (Kind::IxorR, _) => a.eor(dst, dst, src),
                (Kind::IaddRs, _) => {
                    a.add_shifted(dst, dst, src, Shift::Lsl(instruction.modifier >> 2 & 3));
                }
                (Kind::ImulR, _) => a.mul(dst, dst, src),
                (Kind::IrorC, _) => a.ror(dst, dst, (instruction.imm32 & 63) as u8),
                (Kind::ImulhR, _) => a.umulh(dst, dst, src),
                (Kind::IsmulhR, _) => a.smulh(dst, dst, src),
                (Kind::IaddC7 | Kind::IaddC8 | Kind::IaddC9, Some(literal)) => {
                    a.add(dst, dst, literal);
                }
                (Kind::IaddC7 | Kind::IaddC8 | Kind::IaddC9, None) => {
                    a.add_value(dst, dst, constant, LITERAL);
                }
                (Kind::IxorC7 | Kind::IxorC8 | Kind::IxorC9, Some(literal)) => {
                    a.eor(dst, dst, literal);
                }
                (Kind::IxorC7 | Kind::IxorC8 | Kind::IxorC9, None) => {
                    a.eor_value(dst, dst, constant as u64, LITERAL);
                }
                (Kind::ImulRcp, Some(literal)) => a.mul(dst, dst, literal),
                (Kind::ImulRcp, None) => {}
            }
        }
    }
}

/// Emits the address of the cache line that `address` selects.
fn own_line(a: &mut Assembler, line: Gpr, address: Gpr) {
    a.ubfiz(line, address, LINE_SHIFT, LINE_BITS);
    a.add(line, LINES, line);
}
