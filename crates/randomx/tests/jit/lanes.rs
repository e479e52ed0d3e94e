//! An engine beside the interpreter: both run the same programs, and end in the same state.

use randomx::aes::{Aes, AesGenerator1R};
use randomx::cpu::Cpu;
use randomx::engine::{Engine, Lane, LaneContext};
use randomx::interpreter::{Interpreter, Steps};
use randomx::program::Program;
use randomx::rounding::RoundingMode;
use randomx::scratchpad::{Scratchpad, Scratchpads};
use randomx::{Item, Version};

use super::random::Random;

/// Programs that take turns, so that the jump from one's code to another's is tested too.
pub(crate) const LANES: usize = 2;

/// Rounds from one comparison of scratchpads to the next. Comparing takes as long as 20 rounds. A
/// round overwrites a 3,000th of a scratchpad, so most differences last until the next comparison.
const PERIOD: usize = 64;

/// Runs random programs for so many rounds in the engine that `compiled` makes and in the
/// interpreter.
pub(crate) fn compare<E: Engine>(
    version: Version,
    rounds: usize,
    random: &mut Random,
    compiled: impl Fn() -> Lanes<E>,
    with: &str,
) {
    let start = random.clone();
    let result = run(version, rounds, random, compiled(), PERIOD);
    if let Err(late) = result {
        // A scratchpad may have differed for some rounds: compare all of them after every round.
        let first = run(version, rounds, &mut start.clone(), compiled(), 1);
        panic!("with {with}: {}", first.err().unwrap_or(late));
    }
    println!("{version}: {} programs with {with}", rounds * LANES);
}

/// Compares registers in every round, and scratchpads after every `period` rounds.
fn run<E: Engine>(
    version: Version,
    rounds: usize,
    random: &mut Random,
    mut compiled: Lanes<E>,
    period: usize,
) -> Result<(), String> {
    let mut interpreted =
        Lanes::new(Interpreter::new(Cpu::detect()), [(); LANES].map(|()| Steps::default()));
    for round in 0..rounds {
        let programs = std::array::from_fn(|_| random.program(version));
        let modes = std::array::from_fn(|_| RoundingMode::from_fprc(random.word()));
        interpreted.load(&programs, modes);
        compiled.load(&programs, modes);
        let mut items = || std::array::from_fn(|_| std::array::from_fn(|_| random.operand()));
        for part in [Part::Begin, Part::Several(items(), items()), Part::End(items())] {
            interpreted.run(&part);
            compiled.run(&part);
            if let Some(what) = difference(&interpreted.lanes, &compiled.lanes) {
                return Err(format!("{what} in round {round}"));
            }
        }
        if (round + 1).is_multiple_of(period) || round + 1 == rounds {
            let pairs = interpreted.scratchpads.as_mut_slice().iter();
            for (expected, actual) in pairs.zip(compiled.scratchpads.as_mut_slice()) {
                if !same(expected, actual) {
                    return Err(format!("scratchpads differ after round {round}"));
                }
            }
        }
    }
    Ok(())
}

fn difference(interpreted: &[Lane; LANES], compiled: &[Lane; LANES]) -> Option<String> {
    let mut pairs = interpreted.iter().zip(compiled);
    pairs.find_map(|(expected, actual)| {
        let registers = (&expected.registers, &actual.registers);
        let modes = (expected.rounding_mode, actual.rounding_mode);
        let items = (expected.items(), actual.items());
        if registers.0 != registers.1 {
            Some(format!("registers {registers:?} differ"))
        } else if modes.0 != modes.1 {
            Some(format!("rounding modes {modes:?} differ"))
        } else {
            (items.0 != items.1).then(|| format!("item numbers {items:?} differ"))
        }
    })
}

/// An engine with its lanes. Scratchpads are kept from program to program.
pub(crate) struct Lanes<E: Engine> {
    engine: E,
    codes: [E::Code; LANES],
    pub(crate) lanes: [Lane; LANES],
    pub(crate) scratchpads: Scratchpads,
}

/// A part of the loop, with the items that end the lanes' iterations.
pub(crate) enum Part {
    Begin,
    /// The end of an iteration, a whole iteration, and the beginning of a third one.
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
            self.engine.load(program, modes[index], &mut self.codes[index]);
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
