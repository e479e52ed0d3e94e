//! Numbers of instructions, beside those of the reference's compiler for ARM64 (tevador/RandomX 2.0,
//! `jit_compiler_a64.cpp` and `jit_compiler_a64_static.S`) for the same programs.
//!
//! The reference's numbers follow its rules, which are restated here.

use randomx_testing::say;

use super::assembler::Assembler;
use super::program::Features;
use super::superscalar::emit;
use crate::aes::{Aes, AesGenerator4R};
use crate::cpu::Cpu;
use crate::jit::program::{Isa, flag};
use crate::params::Version;
use crate::program::{Address, Operation, Program, Sink, ZERO_REGISTER, decode};
use crate::reciprocal::reciprocal;
use crate::superscalar::{Instruction, Kind, programs};

/// Programs of each version, and keys.
const SAMPLES: usize = 500;

#[test]
fn programs_take_at_most_as_many_as_the_reference_s() {
    let mut generator = AesGenerator4R::new(&[5; 64], Aes::new(Cpu::detect()));
    for version in Version::ALL {
        let mut sums = [0; 2];
        for _ in 0..SAMPLES {
            let program = Program::generate(&mut generator, version);
            let mut reference = Reference::default();
            decode(&program.instructions, version, &mut reference);
            sums[0] += iteration(&program);
            sums[1] += reference.instructions + reference_frame(version);
        }
        let [own, reference] = sums.map(|sum| sum as f64 / SAMPLES as f64);
        say(format_args!(
            "{version}: {own:.1} instructions an iteration, reference {reference:.1}"
        ));
        assert!(own <= reference, "{version}: {own}, reference {reference}");
    }
}

#[test]
fn items_take_at_most_four_fifths_of_the_reference_s() {
    const ITEMS: usize = 16;
    let mut sums = [0; 2];
    let keys = SAMPLES / 10;
    for key in 0..keys {
        let programs = programs(&key.to_le_bytes(), Cpu::detect());
        let mut assembler = Assembler::new(1 << 18);
        let [single, pair] = emit(&mut assembler, &programs).map(|position| position.offset());
        let words = words(assembler.finish().expect("the kernels"));
        assert!(single < pair);
        sums[0] += batch(&words[pair / 4..], ITEMS / 2);
        let instructions = programs.iter().flat_map(|program| &program.instructions);
        sums[1] += ITEMS * (REFERENCE_ITEM + instructions.map(reference_operation).sum::<usize>());
    }
    let [own, reference] = sums.map(|sum| sum as f64 / (keys * ITEMS) as f64);
    let ratio = own / reference;
    say(format_args!("{own:.1} instructions an item, reference {reference:.1}: {ratio:.3}"));
    assert!(ratio <= 0.8, "{own} instructions an item, reference {reference}");
}

fn words(code: &[u8]) -> Vec<u32> {
    code.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()
}

/// Returns the instructions of an iteration that continues without a branch, with a dataset and one
/// lane: the loop from the reads of the scratchpad on.
fn iteration(program: &Program) -> usize {
    // `tbz` and `tbnz` of `x21`, without the distance.
    let test = |opcode: u32, flag: i32| opcode | flag.trailing_zeros() << 19 | 21;
    let features = Features::ALL;
    let mut emitter = features.emitter();
    let words = words(features.emit(&mut emitter, program).expect("a program"));
    let place = |wanted: u32| {
        let found = words.iter().position(|word| word & 0xfff8_001f == wanted);
        found.expect("a test of a flag")
    };
    const FIRST_ADDRESSES: usize = 7;
    let begin = place(test(0x3600_0000, flag::BEGIN)) + 1 + FIRST_ADDRESSES;
    // Behind the last test come `subs` and `b.ne`.
    place(test(0x3700_0000, flag::ALONE)) + 1 - begin + 2
}

/// Returns the instructions of a kernel's call that computes so many groups.
fn batch(kernel: &[u32], groups: usize) -> usize {
    const SUBS: u32 = 0xf100_04c6;
    const RET: u32 = 0xd65f_03c0;
    let end = kernel.iter().position(|&word| word == RET).expect("the end") + 1;
    let loops = kernel[..end].windows(2).filter(|pair| pair[0] == SUBS);
    // The distance of `b.ne` is negative.
    let lengths = loops.map(|pair| (pair[1] as i32) << 8 >> 13).map(|back| 1 - back as isize);
    end + lengths.sum::<isize>() as usize * (groups - 1)
}

/// Instructions of an iteration around the program's own, with a dataset.
fn reference_frame(version: Version) -> usize {
    const LOADS: usize = 5 + 12 + 16 + 20;
    const ITEM: usize = 2 + 9 + 12;
    const STORES: usize = 1 + 4 + 2 + 2;
    LOADS + ITEM + STORES + if version == Version::V1 { 1 + 4 } else { 1 + 48 + 1 }
}

/// Instructions of an item around the functions' own, in a dataset's initialisation.
const REFERENCE_ITEM: usize = 27 + 8 * (3 + 1 + 12 + 1) + 13 + 5;

/// Counts the reference's instructions for a program.
#[derive(Default)]
struct Reference {
    instructions: usize,
    /// Literals of 32 bits. The first 64 stay in NEON registers.
    literals: usize,
    /// Literals of 64 bits. The first 12 stay in registers.
    factors: usize,
}

impl Reference {
    fn mov(&mut self, value: u32) -> usize {
        if value < 1 << 16 {
            return 1;
        }
        self.literals += 1;
        if self.literals <= 64 { 1 } else { 2 }
    }

    fn add(&mut self, value: u32) -> usize {
        if value < 1 << 24 {
            return if value & 0xfff != 0 && value >> 12 != 0 { 2 } else { 1 };
        }
        self.mov(value) + 1
    }

    fn load(&mut self, address: Address) -> usize {
        if address.register == ZERO_REGISTER {
            return self.mov((address.offset & address.mask) >> 3) + 1;
        }
        self.add(address.offset & (address.mask | 7)) + 2
    }

    fn load_converted(&mut self, address: Address) -> usize {
        self.add(address.offset & (address.mask | 7)) + 6
    }
}

impl Sink for Reference {
    fn operation(&mut self, operation: Operation) {
        self.instructions += match operation {
            Operation::Nop => 0,
            Operation::IaddRs { dst, constant, .. } => {
                1 + if dst == 5 { self.add(constant as u32) } else { 0 }
            }
            Operation::IaddM { address, .. }
            | Operation::IsubM { address, .. }
            | Operation::ImulM { address, .. }
            | Operation::ImulhM { address, .. }
            | Operation::IsmulhM { address, .. }
            | Operation::IxorM { address, .. } => self.load(address) + 1,
            Operation::IsubC { constant: i32::MIN, .. } => 2,
            Operation::IsubC { constant, .. } => self.add((constant as u32).wrapping_neg()),
            Operation::ImulC { constant, .. } if is_sign_extended(constant) => {
                self.mov(constant as u32) + 1
            }
            Operation::ImulC { .. } => {
                self.factors += 1;
                if self.factors <= 12 { 1 } else { 2 }
            }
            Operation::IxorC { constant, .. } => self.mov(constant as u32) + 1,
            Operation::IrolR { .. } => 2,
            Operation::IswapR { .. } | Operation::FswapF { .. } | Operation::FswapE { .. } => 3,
            Operation::FaddM { address, .. } | Operation::FsubM { address, .. } => {
                self.load_converted(address) + 1
            }
            Operation::FdivM { address, .. } => self.load_converted(address) + 2,
            Operation::Cbranch { constant, .. } => self.add(constant as u32) + 2,
            Operation::Cfround { gate, .. } => {
                if gate == 0 {
                    4
                } else {
                    6
                }
            }
            Operation::Istore { address, .. } => self.add(address.offset & (address.mask | 7)) + 2,
            _ => 1,
        };
    }
}

/// Whether a factor is an immediate operand, and not a reciprocal, whose highest bit is set.
fn is_sign_extended(factor: u64) -> bool {
    factor as i32 as u64 == factor
}

/// Returns the reference's instructions for an operation of SuperscalarHash.
fn reference_operation(instruction: &Instruction) -> usize {
    let value = instruction.imm32;
    let mov = if value < 1 << 16 { 1 } else { 2 };
    let parts = if value & 0xfff != 0 && value >> 12 != 0 { 2 } else { 1 };
    match instruction.kind {
        Kind::IaddC7 | Kind::IaddC8 | Kind::IaddC9 if value < 1 << 24 => parts,
        Kind::IaddC7 | Kind::IaddC8 | Kind::IaddC9 => mov + 1,
        Kind::IxorC7 | Kind::IxorC8 | Kind::IxorC9 => mov + 1,
        Kind::ImulRcp if reciprocal(value).is_none() => 0,
        Kind::ImulRcp => 2,
        _ => 1,
    }
}
