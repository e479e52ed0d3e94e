//! Machine code against the interpreter, state for state: registers, rounding mode, item numbers
//! and the whole scratchpad after every program, on random programs full of edge cases.
#![cfg(target_arch = "x86_64")]

use randomx::Version;
use randomx::aes::{Aes, AesGenerator1R, AesGenerator4R};
use randomx::cpu::Cpu;
use randomx::engine::{Engine, Lane};
use randomx::interpreter::{Interpreter, Steps};
use randomx::jit::CodePages;
use randomx::jit::x86_64::program::Jit;
use randomx::program::{Opcode, Program};
use randomx::rounding::RoundingMode;
use randomx::scratchpad::{Scratchpad, Scratchpads};

/// Random programs for each version.
const PROGRAMS: usize = 100_000;

#[test]
fn v1_programs_leave_the_same_state() {
    compare(Version::V1);
}

#[test]
fn v2_programs_leave_the_same_state() {
    compare(Version::V2);
}

fn compare(version: Version) {
    let levels = Cpu::detect().levels();
    let mut random = Random::new(version);
    for (index, &cpu) in levels.iter().enumerate() {
        let pages = if index % 2 == 0 { CodePages::Aliased } else { CodePages::Flipped };
        let programs = PROGRAMS / levels.len() + 1;
        let mut pair = Pair::new(cpu, pages, version);
        for program in 0..programs {
            pair.run(&random.program(version), &mut random, program);
        }
        println!("{version}: {programs} programs with {cpu}, {pages:?}");
    }
}

/// The two engines with a lane each.
struct Pair {
    interpreter: Interpreter,
    steps: Steps,
    jit: Jit,
    code: <Jit as Engine>::Code,
    lanes: [Lane; 2],
    scratchpads: Scratchpads,
    version: Version,
}

impl Pair {
    fn new(cpu: Cpu, pages: CodePages, version: Version) -> Pair {
        let jit = Jit::new(cpu, pages);
        let mut scratchpads = Scratchpads::new(2).expect("memory for two scratchpads");
        for scratchpad in scratchpads.as_mut_slice() {
            AesGenerator1R::new(&[7; 64], Aes::new(cpu)).fill(scratchpad.blocks_mut());
        }
        Pair {
            interpreter: Interpreter::new(Cpu::detect()),
            steps: Steps::default(),
            jit,
            code: jit.code().expect("executable memory"),
            lanes: [Lane::new(), Lane::new()],
            scratchpads,
            version,
        }
    }

    /// A few iterations of a program; the scratchpads and the rounding mode stay for the next.
    fn run(&mut self, program: &Program, random: &mut Random, index: usize) {
        self.interpreter.load(program, &mut self.steps);
        self.jit.load(program, &mut self.code);
        let mode = RoundingMode::from_fprc(random.word());
        for lane in &mut self.lanes {
            lane.start(&program.configuration);
            lane.rounding_mode = mode;
        }
        self.advance(&[], true, index);
        let known = self.version.known_items();
        for stretch in 0..2 {
            let items: Vec<_> =
                (0..known).map(|_| std::array::from_fn(|_| random.operand())).collect();
            self.advance(&items, stretch == 0, index);
        }
    }

    fn advance(&mut self, items: &[[u64; 8]], more: bool, index: usize) {
        let [interpreted, compiled] = &mut self.lanes;
        let [expected, actual] = self.scratchpads.as_mut_slice() else { unreachable!() };
        self.interpreter.advance(&self.steps, interpreted, expected, items, more);
        self.jit.advance(&self.code, compiled, actual, items, more);
        assert_eq!(interpreted.registers, compiled.registers, "registers, program {index}");
        assert_eq!(interpreted.rounding_mode, compiled.rounding_mode, "fprc, program {index}");
        assert_eq!(interpreted.items(), compiled.items(), "items, program {index}");
        if !more {
            assert!(same(expected, actual), "scratchpads, program {index}");
        }
    }
}

fn same(one: &Scratchpad, other: &Scratchpad) -> bool {
    one.blocks().as_flattened() == other.blocks().as_flattened()
}

/// Programs and operands, random but for the edge cases.
struct Random {
    generator: AesGenerator4R,
    words: Vec<[u8; 8]>,
}

impl Random {
    fn new(version: Version) -> Random {
        let seed = [version as u8 + 1; 64];
        let generator = AesGenerator4R::new(&seed, Aes::new(Cpu::detect()));
        Random { generator, words: Vec::new() }
    }

    fn word(&mut self) -> u64 {
        if self.words.is_empty() {
            let mut blocks = [[0; 64]; 16];
            self.generator.fill(&mut blocks);
            self.words = blocks.as_flattened().as_chunks().0.to_vec();
        }
        self.words.pop().map(u64::from_le_bytes).expect("words were made")
    }

    fn one_in(&mut self, count: u64) -> bool {
        self.word() >> 32 & (count - 1) == 0
    }

    /// A word, often one at the edge of something.
    fn operand(&mut self) -> u64 {
        let word = self.word();
        match word & 15 {
            0 => 0,
            1 => u64::MAX,
            2 => 1 << 63,
            3 => i64::MAX as u64,
            4 => 1 << (word >> 8 & 63),
            _ => word,
        }
    }

    fn immediate(&mut self) -> u32 {
        let word = self.word();
        match word & 7 {
            0 => 0,
            1 => 1,
            2 => u32::MAX,
            3 => i32::MIN as u32,
            4 => i32::MAX as u32,
            5 => 1 << (word >> 8 & 31),
            6 => (word >> 8 & 255) as u32,
            _ => (word >> 32) as u32,
        }
    }

    /// A program of the hash chain with some fields replaced: operations get equal chances in a
    /// quarter of the words, immediates are edge cases in half, operands the same in an eighth.
    fn program(&mut self, version: Version) -> Program {
        let mut program = Program::generate(&mut self.generator, version);
        for instruction in &mut program.instructions {
            if self.one_in(4) {
                let wanted = (self.word() >> 40) as usize % Opcode::FREQUENCIES.len();
                let before = Opcode::FREQUENCIES[..wanted].iter().map(|(_, count)| count);
                instruction.opcode = before.sum::<usize>() as u8;
            }
            if self.one_in(2) {
                instruction.imm32 = self.immediate();
            }
            if self.one_in(8) {
                instruction.src = instruction.dst;
            }
        }
        program
    }
}
