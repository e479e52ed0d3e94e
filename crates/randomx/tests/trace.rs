//! Traces: the reported events are consistent, and tracing does not change a hash.

use std::sync::Arc;

use randomx::aes::{Aes, AesGenerator1R};
use randomx::blake_generator::BlakeGenerator;
use randomx::blake2b::hash512;
use randomx::cpu::Cpu;
use randomx::f64x2::F64x2;
use randomx::items::Items;
use randomx::params::{PROGRAM_COUNT, PROGRAM_ITERATIONS, SCRATCHPAD_L3};
use randomx::program::{Opcode, Operation, Program, Sink, decode_dyn};
use randomx::registers::RegisterFile;
use randomx::rounding::RoundingMode;
use randomx::scratchpad::{L1_MASK, L2_MASK, L3_MASK, Scratchpad};
use randomx::superscalar::{
    GenerationTracer, Instruction, Issued, Kind, Port, generate, generate_traced,
};
use randomx::trace::{self, Tracer};
use randomx::{Cache, Item, KeyMemory, Version, Vm};

const INPUT: &[u8] = b"an input whose hash is traced";

#[test]
fn tracing_reports_consistent_events_and_keeps_the_hash() {
    let cache = Arc::new(Cache::new(b"trace").expect("a cache"));
    let items = Arc::new(Items::new(Arc::clone(&cache), Cpu::detect()));
    let mut vm = Vm::new(Arc::clone(&cache), Version::V1).expect("a VM");
    for version in Version::ALL {
        vm.set_version(version);
        let expected = vm.hash(INPUT);
        let key = KeyMemory::Items(items.clone());
        assert_eq!(trace::hash(key.clone(), version, INPUT, &mut ()), Ok(expected), "{version}");

        let mut tracers = (Checker::new(&items), Count::default());
        assert_eq!(trace::hash(key, version, INPUT, &mut tracers), Ok(expected), "{version}");
        let (checker, count) = tracers;
        assert_eq!(checker.programs, PROGRAM_COUNT);
        assert_eq!(checker.iterations, PROGRAM_COUNT * PROGRAM_ITERATIONS);
        assert!(checker.ended);
        assert!(count.taken > 0 && count.instructions > 0);
        // In v2 most CFROUND instructions leave fprc unchanged.
        let share = checker.rounded as f64 / checker.roundings as f64;
        match version {
            Version::V1 => assert_eq!(checker.rounded, checker.roundings),
            Version::V2 => assert!(share > 0.02 && share < 0.15, "{share} of CFROUND"),
        }
    }
}

#[derive(Default)]
struct Count {
    instructions: u64,
    taken: u64,
}

impl Tracer for Count {
    fn instruction(&mut self, _: usize) {
        self.instructions += 1;
    }

    fn branch(&mut self, taken: bool) {
        self.taken += u64::from(taken);
    }
}

/// Follows a hash by its events and checks them against independent knowledge.
struct Checker<'a> {
    items: &'a Items,
    operations: Vec<Operation>,
    opcodes: Vec<Opcode>,
    /// The present instruction, and the one that must follow.
    at: usize,
    next: usize,
    floats: [Option<F64x2>; 8],
    written: Vec<bool>,
    programs: usize,
    iterations: usize,
    roundings: u64,
    rounded: u64,
    ended: bool,
}

impl Checker<'_> {
    fn new(items: &Items) -> Checker<'_> {
        Checker {
            items,
            operations: Vec::new(),
            opcodes: Vec::new(),
            at: 0,
            next: 0,
            floats: [None; 8],
            written: vec![false; SCRATCHPAD_L3 / 8],
            programs: 0,
            iterations: 0,
            roundings: 0,
            rounded: 0,
            ended: false,
        }
    }

    fn write(&mut self, address: u32, bytes: usize) {
        let first = address as usize / 8;
        self.written[first..first + bytes / 8].fill(true);
    }
}

impl Tracer for Checker<'_> {
    fn program(&mut self, program: &Program) {
        self.programs += 1;
        let mut operations = Operations(Vec::new());
        decode_dyn(&program.instructions, program.version, &mut operations);
        self.operations = operations.0;
        self.opcodes = program.instructions.iter().map(|word| word.opcode()).collect();
    }

    fn iteration(&mut self, lines: [u32; 2], _: &RegisterFile) {
        for line in lines {
            assert!(line.is_multiple_of(64) && (line as usize) < SCRATCHPAD_L3);
            self.write(line, 64);
        }
        self.next = 0;
        self.floats = [None; 8];
    }

    fn instruction(&mut self, index: usize) {
        assert_eq!(index, self.next, "after {}", self.at);
        self.at = index;
        self.next = index + 1;
        self.roundings += u64::from(self.opcodes[index] == Opcode::Cfround);
    }

    fn read(&mut self, address: u32, mask: u32) {
        assert!([L1_MASK, L2_MASK, L3_MASK].contains(&mask) && address & mask == address);
    }

    fn write(&mut self, address: u32, mask: u32) {
        assert_eq!(self.opcodes[self.at], Opcode::Istore);
        assert!([L1_MASK, L2_MASK, L3_MASK].contains(&mask) && address & mask == address);
        self.write(address, 8);
    }

    fn branch(&mut self, taken: bool) {
        match self.operations[self.at] {
            Operation::Cbranch { target, .. } if taken => self.next = usize::from(target),
            Operation::Cbranch { .. } => {}
            other => panic!("{other:?} is not a branch"),
        }
    }

    fn rounding(&mut self, _: RoundingMode) {
        assert_eq!(self.opcodes[self.at], Opcode::Cfround);
        self.rounded += 1;
    }

    fn float(&mut self, register: u8, value: F64x2) {
        self.floats[usize::from(register)] = Some(value);
    }

    fn executed(&mut self, registers: &RegisterFile) {
        assert_eq!(self.next, self.operations.len());
        for (reported, actual) in self.floats.iter().zip(registers.f.iter().chain(&registers.e)) {
            assert!(reported.is_none_or(|reported| reported == *actual));
        }
    }

    fn item(&mut self, number: u32, item: &Item) {
        let mut expected = [[0; 8]];
        // Computing an item takes a large part of an iteration's time, so a sample is checked.
        if self.iterations.is_multiple_of(64) {
            self.items.compute(&[number], &mut expected);
            assert_eq!(*item, expected[0]);
        }
    }

    fn iterated(&mut self, _: &RegisterFile) {
        self.iterations += 1;
    }

    /// Exactly the words that were not written still have their initial values.
    fn scratchpad(&mut self, scratchpad: &Scratchpad) {
        let mut filled = vec![[0; 64]; SCRATCHPAD_L3 / 64];
        AesGenerator1R::new(&hash512(&[INPUT]), Aes::new(Cpu::detect())).fill(&mut filled);
        let words =
            |blocks: &[[u8; 64]]| -> Vec<[u8; 8]> { blocks.as_flattened().as_chunks().0.to_vec() };
        for ((before, after), written) in
            words(&filled).iter().zip(words(scratchpad.blocks())).zip(&self.written)
        {
            assert_eq!(*before != after, *written);
        }
        self.ended = true;
    }
}

struct Operations(Vec<Operation>);

impl Sink for Operations {
    fn operation(&mut self, operation: Operation) {
        self.0.push(operation);
    }
}

#[test]
fn tracing_a_superscalar_program_keeps_the_program() {
    for key in 0..20u8 {
        let mut random = BlakeGenerator::new(&[key]);
        let mut expected = BlakeGenerator::new(&[key]);
        for _ in 0..8 {
            let mut schedule = Scheduled::default();
            let program = generate_traced(&mut random, &mut schedule);
            assert_eq!(program, generate(&mut expected));
            assert_eq!(schedule.instructions, program.instructions);
            assert!(schedule.slots > schedule.instructions.len());
        }
    }
}

/// Checks a schedule against the rules of specification 6.2 and 6.3.
#[derive(Default)]
struct Scheduled {
    group: &'static [u8],
    slot: usize,
    slots: usize,
    taken: Vec<[bool; 3]>,
    instructions: Vec<Instruction>,
    parts: usize,
}

impl GenerationTracer for Scheduled {
    fn group(&mut self, sizes: &'static [u8]) {
        assert!(sizes.iter().sum::<u8>() <= 16, "a group has 16 bytes: {sizes:?}");
        self.group = sizes;
        self.slot = 0;
    }

    fn issued(&mut self, op: Issued) {
        assert!(self.slot < self.group.len());
        assert_eq!(op.part, self.parts);
        self.slot += 1;
        self.slots += 1;
        self.parts += 1;
        let ports: Vec<Port> = Port::ALL.into_iter().filter(|port| op.uses(*port)).collect();
        let is_move = op.latency == 0;
        let is_wide = matches!(op.kind, Kind::ImulhR | Kind::IsmulhR) && !is_move;
        assert_eq!(ports.len(), if is_move { 0 } else { 1 + usize::from(is_wide) }, "{op:?}");
        self.taken.resize(self.taken.len().max(op.cycle + 1), [false; 3]);
        for port in ports {
            let taken = &mut self.taken[op.cycle][port as usize];
            assert!(!std::mem::replace(taken, true), "{port:?} is taken twice in {}", op.cycle);
        }
    }

    fn instruction(&mut self, instruction: &Instruction) {
        self.instructions.push(*instruction);
        self.parts = 0;
    }

    fn discarded(&mut self, _: Kind) {
        self.parts = 0;
    }
}
