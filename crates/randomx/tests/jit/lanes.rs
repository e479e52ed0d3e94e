//! Engines side by side, with the lanes that they run.

use randomx::aes::{Aes, AesGenerator1R};
use randomx::cpu::Cpu;
use randomx::engine::{Engine, Lane, LaneContext};
use randomx::interpreter::{Interpreter, Steps};
use randomx::program::Program;
use randomx::rounding::RoundingMode;
use randomx::scratchpad::{Scratchpad, Scratchpads};
use randomx::{Item, Version};

use super::random::Random;

/// Programs that take turns, so that the way from one's code to another's is tested too.
pub(crate) const LANES: usize = 2;

/// Runs so many rounds of random programs in `compiled` and in the interpreter.
pub(crate) fn compare<E: Engine>(
    version: Version,
    rounds: usize,
    random: &mut Random,
    mut compiled: Lanes<E>,
    with: &str,
) {
    let mut interpreted =
        Lanes::new(Interpreter::new(Cpu::detect()), [(); LANES].map(|()| Steps::default()));
    for round in 0..rounds {
        let at = format!("with {with}, in round {round}");
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
    println!("{version}: {} programs with {with}", rounds * LANES);
}

fn assert_same_registers(interpreted: &[Lane; LANES], compiled: &[Lane; LANES], at: &str) {
    for (expected, actual) in interpreted.iter().zip(compiled) {
        assert_eq!(expected.registers, actual.registers, "registers {at}");
        assert_eq!(expected.rounding_mode, actual.rounding_mode, "fprc {at}");
        assert_eq!(expected.items(), actual.items(), "items {at}");
    }
}

/// An engine with its lanes. Scratchpads stay from program to program.
pub(crate) struct Lanes<E: Engine> {
    engine: E,
    codes: [E::Code; LANES],
    pub(crate) lanes: [Lane; LANES],
    pub(crate) scratchpads: Scratchpads,
}

/// A part of the loop, with the items that end the lanes' iterations.
pub(crate) enum Part {
    Begin,
    /// The end of an iteration, then the whole of one and the beginning of another.
    Several([Item; LANES], [Item; LANES]),
    End([Item; LANES]),
}

impl<E: Engine> Lanes<E> {
    pub(crate) fn new(engine: E, codes: [E::Code; LANES]) -> Lanes<E> {
        let mut scratchpads = Scratchpads::new(LANES).expect("memory for scratchpads");
        let mut filler = AesGenerator1R::new(&[7; 64], Aes::new(Cpu::detect()));
        for scratchpad in scratchpads.as_mut_slice() {
            filler.fill(scratchpad.blocks_mut());
        }
        let lanes = [(); LANES].map(|()| Lane::new());
        Lanes { engine, codes, lanes, scratchpads }
    }

    pub(crate) fn load(&mut self, programs: &[Program; LANES], modes: [RoundingMode; LANES]) {
        for (index, program) in programs.iter().enumerate() {
            self.engine.load(program, &mut self.codes[index]);
            self.lanes[index].start(&program.configuration);
            self.lanes[index].rounding_mode = modes[index];
        }
    }

    pub(crate) fn run(&mut self, part: &Part) {
        let scratchpads = self.scratchpads.as_mut_slice().iter_mut();
        let lanes = self.codes.iter().zip(&mut self.lanes).zip(scratchpads);
        let context = |((code, lane), scratchpad)| LaneContext { code, lane, scratchpad };
        let lanes = &mut lanes.map(context).collect::<Vec<_>>();
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
