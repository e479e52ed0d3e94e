//! Machine code against the interpreter, state for state: registers, rounding mode, item numbers
//! and the whole scratchpad after every program, on random programs full of edge cases.
#![cfg(target_arch = "x86_64")]

use randomx::aes::{Aes, AesGenerator1R, AesGenerator4R};
use randomx::cpu::Cpu;
use randomx::engine::{Engine, Lane, Running};
use randomx::interpreter::{Interpreter, Steps};
use randomx::jit::CodePages;
use randomx::jit::x86_64::program::Jit;
use randomx::program::{Opcode, Program};
use randomx::rounding::RoundingMode;
use randomx::scratchpad::{Scratchpad, Scratchpads};
use randomx::{Item, Version};

/// Random programs for each version.
const PROGRAMS: usize = 100_000;
/// Programs that take turns, so that the way from one's code to another's is tested too.
const LANES: usize = 2;

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
        let rounds = PROGRAMS / levels.len() / LANES + 1;
        let jit = Jit::new(cpu, pages);
        let mut interpreted = Lanes::new(Interpreter::new(Cpu::detect()), Steps::default);
        let mut compiled = Lanes::new(jit, || jit.code().expect("executable memory"));
        for round in 0..rounds {
            let at = format!("with {cpu}, {pages:?}, in round {round}");
            let programs = std::array::from_fn(|_| random.program(version));
            let modes = std::array::from_fn(|_| RoundingMode::from_fprc(random.word()));
            interpreted.load(&programs, modes);
            compiled.load(&programs, modes);
            let mut items = || std::array::from_fn(|_| std::array::from_fn(|_| random.operand()));
            for part in [Part::Begin, Part::Several(items(), items()), Part::End(items())] {
                interpreted.run(&part);
                compiled.run(&part);
                assert_same_registers(&interpreted.lanes, &compiled.lanes, &at);
            }
            let pairs = interpreted.scratchpads.as_mut_slice().iter();
            for (expected, actual) in pairs.zip(compiled.scratchpads.as_mut_slice()) {
                assert!(same(expected, actual), "scratchpads {at}");
            }
        }
        println!("{version}: {} programs with {cpu}, {pages:?}", rounds * LANES);
    }
}

fn assert_same_registers(interpreted: &[Lane; LANES], compiled: &[Lane; LANES], at: &str) {
    for (expected, actual) in interpreted.iter().zip(compiled) {
        assert_eq!(expected.registers, actual.registers, "registers {at}");
        assert_eq!(expected.rounding_mode, actual.rounding_mode, "fprc {at}");
        assert_eq!(expected.items(), actual.items(), "items {at}");
    }
}

/// An engine with its lanes. Scratchpads stay from program to program.
struct Lanes<E: Engine> {
    engine: E,
    codes: [E::Code; LANES],
    lanes: [Lane; LANES],
    scratchpads: Scratchpads,
}

/// A part of the loop, with the items that end the lanes' iterations.
enum Part {
    Begin,
    /// The end of an iteration, then the whole of one and the beginning of another.
    Several([Item; LANES], [Item; LANES]),
    End([Item; LANES]),
}

impl<E: Engine> Lanes<E> {
    fn new(engine: E, mut code: impl FnMut() -> E::Code) -> Lanes<E> {
        let mut scratchpads = Scratchpads::new(LANES).expect("memory for scratchpads");
        let mut filler = AesGenerator1R::new(&[7; 64], Aes::new(Cpu::detect()));
        for scratchpad in scratchpads.as_mut_slice() {
            filler.fill(scratchpad.blocks_mut());
        }
        let (codes, lanes) = ([(); LANES].map(|()| code()), [(); LANES].map(|()| Lane::new()));
        Lanes { engine, codes, lanes, scratchpads }
    }

    fn load(&mut self, programs: &[Program; LANES], modes: [RoundingMode; LANES]) {
        for (index, program) in programs.iter().enumerate() {
            self.engine.load(program, &mut self.codes[index]);
            self.lanes[index].start(&program.configuration);
            self.lanes[index].rounding_mode = modes[index];
        }
    }

    fn run(&mut self, part: &Part) {
        let scratchpads = self.scratchpads.as_mut_slice().iter_mut();
        let lanes = self.codes.iter().zip(&mut self.lanes).zip(scratchpads);
        let running = |((code, lane), scratchpad)| Running { code, lane, scratchpad };
        let lanes = &mut lanes.map(running).collect::<Vec<_>>();
        match part {
            Part::Begin => self.engine.begin(lanes),
            Part::End(items) => self.engine.end(lanes, items),
            Part::Several(first, second) => {
                self.engine.end(lanes, first);
                self.engine.iterate(lanes, second);
                self.engine.begin(lanes);
            }
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
