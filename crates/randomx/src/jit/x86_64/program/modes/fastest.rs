//! The choice between one load and four, by measuring both once in a process.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use super::super::{Features, Jit};
use super::ModeLoads;
use crate::aes::{Aes, AesGenerator4R};
use crate::cpu::Cpu;
use crate::engine::{Engine, Lane, LaneContext};
use crate::environment::DefaultEnvironment;
use crate::jit::CodePages;
use crate::jit::program::Code;
use crate::once::try_once;
use crate::params::Version;
use crate::program::{Opcode, Program};
use crate::rounding::RoundingMode;
use crate::scratchpad::{Scratchpad, Scratchpads};
use crate::turns;

/// Turns of each kind.
const ROUNDS: usize = 9;

/// Iterations in a turn. One takes some tenths of a microsecond.
const ITERATIONS: usize = 32;

/// See [`ModeLoads::fastest`].
pub(super) fn fastest() -> ModeLoads {
    static FASTEST: OnceLock<ModeLoads> = OnceLock::new();
    try_once(&FASTEST, || measure().ok_or(())).copied().unwrap_or(ModeLoads::One)
}

/// Measures both kinds and returns the faster one, or `None` if the system refuses memory.
fn measure() -> Option<ModeLoads> {
    // If the system refuses memory for a program, the interpreter runs it.
    let _environment = DefaultEnvironment::enter();
    let mut scratchpads = Scratchpads::new(1).ok()?;
    let scratchpad = scratchpads.as_mut_slice().first_mut()?;
    let (mut one, mut four) = (Trial::new(ModeLoads::One)?, Trial::new(ModeLoads::Four)?);
    Some(fastest_by(|loads| match loads {
        ModeLoads::One => one.turn(scratchpad),
        ModeLoads::Four => four.turn(scratchpad),
    }))
}

/// Returns the kind with the shorter of the shortest times.
fn fastest_by(mut time: impl FnMut(ModeLoads) -> Duration) -> ModeLoads {
    let kinds = ModeLoads::ALL;
    kinds[turns::fastest(kinds.len(), ROUNDS, |kind| time(kinds[kind]))]
}

/// A program that changes the mode, ready to run.
struct Trial {
    jit: Jit,
    code: Code<Features>,
    lane: Lane,
}

impl Trial {
    /// Compiles the program. Returns `None` if the system refuses memory.
    fn new(loads: ModeLoads) -> Option<Trial> {
        let cpu = Cpu::detect();
        // Never writable and executable at once: VMs that ask for that, too, begin with this measurement.
        let jit = Jit::of(Features::new(cpu, loads), cpu, CodePages::Flipped);
        let mut code = jit.code().ok()?;
        let program = program(cpu);
        jit.load(&program, RoundingMode::Nearest, &mut code);
        let mut lane = Lane::new();
        lane.start(&program.configuration);
        Some(Trial { jit, code, lane })
    }

    /// Measures some iterations.
    fn turn(&mut self, scratchpad: &mut Scratchpad) -> Duration {
        let Trial { jit, code, lane } = self;
        // Any item without zeros.
        let item = [0x9e37_79b9_7f4a_7c15; 8];
        let start = Instant::now();
        for _ in 0..ITERATIONS {
            jit.iterate(&mut [LaneContext { code, lane, scratchpad }], &[item]);
        }
        start.elapsed()
    }
}

/// Returns a random program with four CFROUND and those that are there by chance. With many more, a program waits for
/// each of them as long as for a prediction that fails, and both kinds take the same time.
fn program(cpu: Cpu) -> Program {
    let mut program = Program::empty();
    program.regenerate(&mut AesGenerator4R::new(&[0x5a; 64], Aes::new(cpu)), Version::V1);
    for instruction in program.instructions.iter_mut().step_by(64) {
        while instruction.opcode() != Opcode::Cfround {
            instruction.opcode = instruction.opcode.wrapping_add(1);
        }
    }
    program
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_chosen_if_it_is_faster() {
        for fast in ModeLoads::ALL {
            let mut turns = 0;
            // The first turns are interrupted.
            let time = |loads| {
                turns += 1;
                Duration::from_nanos(if loads == fast && turns > 2 { 5 } else { 7 })
            };
            assert_eq!(fastest_by(time), fast);
        }
    }

    #[test]
    fn a_tie_is_decided_for_one_load() {
        assert_eq!(fastest_by(|_| Duration::from_nanos(5)), ModeLoads::One);
    }

    #[test]
    fn trials_have_no_second_view_of_their_code() {
        let trial = Trial::new(ModeLoads::Four).expect("executable memory");
        assert!(format!("{:?}", trial.jit).contains("pages: Flipped"));
    }

    #[test]
    fn trials_change_the_mode_in_all_ways() {
        let mut seen = [false; 4];
        let mut scratchpads = Scratchpads::new(1).expect("2 MiB");
        let mut trial = Trial::new(ModeLoads::One).expect("executable memory");
        for _ in 0..20 {
            trial.turn(&mut scratchpads.as_mut_slice()[0]);
            seen[trial.lane.rounding_mode as usize] = true;
        }
        assert_eq!(seen, [true; 4]);
    }
}
