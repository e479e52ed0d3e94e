//! Programs of arbitrary instruction words, for engines to run side by side.

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
pub(crate) mod guarded;

use randomx::aes::{Aes, AesGenerator1R};
use randomx::cpu::Cpu;
use randomx::engine::{Engine, ItemPrefetches, Lane, LaneContext};
use randomx::params::MAX_LANES;
use randomx::program::{Configuration, Instruction, Opcode, Program};
use randomx::rounding::RoundingMode;
use randomx::scratchpad::Scratchpad;
use randomx::{Item, Version};

use crate::input::Input;

/// Programs that take turns, so that the jump from one's code to another's is run too.
pub(crate) const LANES: usize = 2;
const _: () = assert!(LANES <= MAX_LANES);

/// A program, and the state in which it begins.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    /// Bits that choose the engine's options.
    pub(crate) options: u8,
    /// Whether the whole loop runs, with items of a dataset.
    whole_loop: bool,
    pub(crate) program: Program,
    modes: [RoundingMode; LANES],
    registers: [u64; 8],
    items: [u64; 3],
    /// How many instructions of the program come last in the second lane.
    turned: usize,
}

impl Case {
    pub(crate) fn draw(data: &[u8]) -> Case {
        let mut input = Input::new(data);
        let (options, kind) = (input.byte(), input.byte());
        let version = if kind & 1 == 0 { Version::V1 } else { Version::V2 };
        let modes = [kind >> 1, kind >> 3].map(|fprc| RoundingMode::from_fprc(fprc.into()));
        // The loop takes as long as a hundred other cases.
        let whole_loop = kind >> 5 == 7;
        let turned = usize::from(input.byte());
        let registers = std::array::from_fn(|_| input.number());
        let items = std::array::from_fn(|_| input.number());
        let configuration = Configuration::new(&std::array::from_fn(|_| input.number()));
        let (words, _) = input.rest().as_chunks::<8>();
        let words = words.iter().take(version.program_size());
        let instructions = words.map(Instruction::from_bytes).collect();
        let program = Program { version, configuration, instructions };
        Case { options, whole_loop, program, modes, registers, items, turned }
    }

    /// Returns the case with a few iterations, for engines that are slow or lack a dataset.
    #[cfg(feature = "wasmi")]
    pub(crate) fn without_loop(self) -> Case {
        Case { whole_loop: false, ..self }
    }

    /// The input from which [`Case::draw`] makes a case with the given instructions.
    pub(crate) fn input(options: u8, kind: u8, seed: u8, instructions: &[[u8; 8]]) -> Vec<u8> {
        let mut bytes = vec![options, kind, seed];
        for index in 0..8 + 3 + 16 {
            // A whole number of 64 bits follows.
            bytes.push(1);
            bytes.extend([seed.wrapping_add(index).wrapping_mul(0x9d); 8]);
        }
        bytes.extend_from_slice(instructions.as_flattened());
        bytes
    }

    /// Returns each operation with two different registers and with the same one, and with two
    /// modifiers.
    pub(crate) fn every_instruction() -> Vec<[u8; 8]> {
        let mut words = Vec::new();
        for (src, modifier) in [(4, 0xe7), (5, 0xe7), (4, 0x14), (5, 0x14)] {
            let mut opcode = 0;
            for (_, frequency) in Opcode::FREQUENCIES {
                words.push([opcode as u8, 5, src, modifier, 0x67, 0x45, 0x23, 0x81]);
                opcode += frequency;
            }
        }
        words
    }

    #[cfg(all(test, target_arch = "x86_64", target_os = "linux"))]
    pub(crate) fn with_every_instruction() -> Case {
        Case::draw(&Case::input(0, 0, 1, &Case::every_instruction()))
    }

    /// The programs of all lanes.
    fn programs(&self) -> [Program; LANES] {
        let mut second = self.program.clone();
        if !second.instructions.is_empty() {
            let turned = self.turned % second.instructions.len();
            second.instructions.rotate_left(turned);
        }
        [self.program.clone(), second]
    }
}

/// Runs a case in an engine. The lanes and scratchpads are where the caller wants them.
pub(crate) fn run<E: Engine>(
    case: &Case,
    engine: &E,
    codes: &mut [E::Code; LANES],
    lanes: [&mut Lane; LANES],
    scratchpads: [&mut Scratchpad; LANES],
    dataset: &[Item],
) {
    let mut contexts = Vec::with_capacity(LANES);
    let programs = case.programs();
    for ((program, code), (index, lane)) in
        programs.iter().zip(&mut *codes).zip(lanes.into_iter().enumerate())
    {
        engine.load(program, case.modes[index], code);
        lane.start(&program.configuration);
        lane.rounding_mode = case.modes[index];
        lane.registers.r = case.registers.map(|word| word.rotate_left(index as u32));
        contexts.push(lane);
    }
    let contexts = contexts.into_iter().zip(&*codes).zip(scratchpads);
    let mut contexts: Vec<LaneContext<'_, E::Code>> =
        contexts.map(|((lane, code), scratchpad)| LaneContext { code, lane, scratchpad }).collect();
    if case.whole_loop {
        // Alone, a lane keeps its registers between iterations.
        let lanes = if case.options & 0x80 == 0 { LANES } else { 1 };
        let pairs = case.options & 0x40 != 0;
        let prefetches = if pairs { ItemPrefetches::Pairs } else { ItemPrefetches::Each };
        engine.run(&mut contexts[..lanes], dataset, prefetches);
        return;
    }
    let [first, second, third] = case.items.map(items);
    engine.begin(&mut contexts);
    engine.end(&mut contexts, &first);
    engine.iterate(&mut contexts, &second);
    engine.begin(&mut contexts);
    engine.end(&mut contexts, &third);
}

/// Makes the items of all lanes from a number.
fn items(seed: u64) -> [Item; LANES] {
    let word = |index: u64| (seed ^ index).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    std::array::from_fn(|lane| std::array::from_fn(|index| word((8 * lane + index) as u64)))
}

/// Fills a scratchpad with random words, many of them edge cases.
pub(crate) fn fill(blocks: &mut [[u8; 64]], seed: u8) {
    const EDGES: [u64; 8] =
        [0, u64::MAX, 1 << 63, i64::MAX as u64, 1, 1 << 31, 0x8000_0000_8000_0000, u32::MAX as u64];
    AesGenerator1R::new(&[seed; 64], Aes::new(Cpu::detect())).fill(blocks);
    for (index, word) in blocks.as_flattened_mut().as_chunks_mut::<8>().0.iter_mut().enumerate() {
        if u64::from_le_bytes(*word) & 7 == 0 {
            *word = EDGES[index % EDGES.len()].to_le_bytes();
        }
    }
}

/// Compares what two engines left in a lane and its scratchpad.
pub(crate) fn assert_same(
    expected: (&Lane, &Scratchpad),
    found: (&Lane, &Scratchpad),
    engine: &str,
) {
    let (lanes, scratchpads) = ((expected.0, found.0), (expected.1, found.1));
    assert_eq!(lanes.0.registers, lanes.1.registers, "registers, {engine}");
    assert_eq!(lanes.0.rounding_mode, lanes.1.rounding_mode, "rounding modes, {engine}");
    assert_eq!(lanes.0.items(), lanes.1.items(), "item numbers, {engine}");
    let (expected, found) = (scratchpads.0.blocks(), scratchpads.1.blocks());
    if expected.as_flattened() != found.as_flattened() {
        let block = expected.iter().zip(found).position(|(one, other)| one != other);
        panic!("scratchpads differ from block {block:?} on, {engine}");
    }
}
