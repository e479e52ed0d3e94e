//! Machine code for this processor.

use randomx::Version;
use randomx::cpu::Cpu;
use randomx::engine::{Engine, Lane, LaneContext};
use randomx::interpreter::{Interpreter, Steps};
use randomx::jit::CodePages;
use randomx::jit::native;
use randomx::rounding::RoundingMode;
use randomx::scratchpad::Scratchpads;
use randomx_testing::{amount, say};

use super::lanes::{LANES, Lanes, compare};
use super::random::Random;

/// The number of random programs for each version. Tests for ARM64 usually run in an emulator.
fn programs() -> usize {
    let [quick, full] =
        if cfg!(target_arch = "aarch64") { [2_000, 50_000] } else { [20_000, 100_000] };
    amount(quick, full)
}

#[test]
fn v1_programs_leave_the_same_state() {
    compare_levels(Version::V1);
}

#[test]
fn v2_programs_leave_the_same_state() {
    compare_levels(Version::V2);
}

/// The interpreter leaves the iteration's addresses in the lane as they are, without masks.
#[test]
fn machine_code_ends_what_the_interpreter_began() {
    let mut random = Random::new(Version::V1);
    for pages in [CodePages::Aliased, CodePages::Flipped] {
        let interpreter = Interpreter::new(Cpu::detect());
        let jit = native::jit(Cpu::detect(), pages).expect("a compiler for this processor");
        for _ in 0..100 {
            let program = random.program(Version::V1);
            let steps = Steps::of(&program);
            let mut code = jit.code().expect("executable memory");
            jit.load(&program, RoundingMode::Nearest, &mut code);
            let mut lane = Lane::new();
            lane.start(&program.configuration);
            lane.registers.r = [(); 8].map(|()| random.operand());
            let item = [(); 8].map(|()| random.operand());
            let states = [false, true].map(|compiled| {
                let (mut lane, mut scratchpads) =
                    (lane.clone(), Scratchpads::new(1).expect("2 MiB"));
                let lane = &mut lane;
                let scratchpad = &mut scratchpads.as_mut_slice()[0];
                interpreter.begin(&mut [LaneContext { code: &steps, lane, scratchpad }]);
                if compiled {
                    jit.end(&mut [LaneContext { code: &code, lane, scratchpad }], &[item]);
                } else {
                    interpreter.end(&mut [LaneContext { code: &steps, lane, scratchpad }], &[item]);
                }
                (lane.registers.clone(), scratchpad.blocks().to_vec())
            });
            assert!(states[0] == states[1], "{pages:?}");
        }
    }
}

fn compare_levels(version: Version) {
    let levels = Cpu::detect().levels();
    let mut random = Random::new(version);
    let mut all = Vec::new();
    for (index, &cpu) in levels.iter().enumerate() {
        let pages = if index % 2 == 0 { CodePages::Aliased } else { CodePages::Flipped };
        all.extend(
            compilers(cpu, pages)
                .into_iter()
                .map(|(jit, with)| (jit, format!("{cpu}, {pages:?}{with}"))),
        );
    }
    let rounds = programs() / all.len() / LANES + 1;
    for (jit, with) in &all {
        let compiled =
            || Lanes::new(*jit, [(); LANES].map(|()| jit.code().expect("executable memory")));
        compare(version, rounds, &mut random, compiled, with);
    }
    say(format_args!(
        "{version}: {} programs as machine code of {} processors",
        programs(),
        levels.len()
    ));
}

/// Returns the compilers for a processor, and how each differs from others for it.
#[cfg(target_arch = "x86_64")]
fn compilers(cpu: Cpu, pages: CodePages) -> Vec<(native::Jit, String)> {
    use randomx::jit::x86_64::program::{Features, ModeLoads};
    ModeLoads::ALL
        .iter()
        .map(|&loads| {
            (native::Jit::of(Features::new(cpu, loads), cpu, pages), format!(", {}", loads.name()))
        })
        .collect()
}

/// Returns the compiler for a processor.
#[cfg(not(target_arch = "x86_64"))]
fn compilers(cpu: Cpu, pages: CodePages) -> Vec<(native::Jit, String)> {
    vec![(native::jit(cpu, pages).expect("a compiler for this processor"), String::new())]
}
