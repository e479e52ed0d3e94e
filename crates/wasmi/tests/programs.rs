//! Programs as WebAssembly modules: random ones against the interpreter, and the reference's vectors of
//! instructions.

#[path = "../../randomx/tests/jit/lanes.rs"]
mod lanes;
#[path = "../../randomx/tests/jit/random.rs"]
mod random;

use randomx::Version;
use randomx::cpu::Cpu;
use randomx::jit::wasm::Features;
use randomx::jit::wasm::engine::Jit;
use randomx_conformance::{Report, run_instructions};
use randomx_testing::say;

use lanes::{LANES, Lanes, compare};
use random::Random;
use randomx_wasmi::Wasmi;

/// Random programs for each version and set of features.
const PROGRAMS: usize = 500;

/// Lengths of a program's parts: one part for each branch, a few, and one in all.
const PARTS: [usize; 3] = [0, 1000, usize::MAX];

/// The features that change the code of programs, in all combinations.
const FEATURES: [(bool, bool); 4] = [(false, false), (true, false), (false, true), (true, true)];

#[test]
fn v1_programs_leave_the_same_state() {
    compare_features(Version::V1);
}

#[test]
fn v2_programs_leave_the_same_state() {
    compare_features(Version::V2);
}

#[test]
fn instructions_leave_the_states_of_the_reference() {
    let vectors = include_str!("../../../tests/vectors/instructions.json");
    let cpu = Cpu::detect();
    for features in features() {
        let jit = Jit::new(Wasmi::new(features), features, cpu);
        let mut report = Report::default();
        run_instructions(vectors, &jit, cpu, &mut report).expect("well-formed vectors");
        assert!(report.checked > 0, "no vectors");
        assert!(report.failures.is_empty(), "{features:?}:\n{}", report.failures.join("\n"));
        say(format_args!("{features:?}: {} values of instructions in wasmi", report.checked));
    }
}

fn features() -> impl Iterator<Item = Features> {
    FEATURES.into_iter().map(|(fused_multiply_add, wide_arithmetic)| Features {
        fused_multiply_add,
        wide_arithmetic,
        shared_memory: false,
    })
}

fn compare_features(version: Version) {
    let mut random = Random::new(version);
    let rounds = PROGRAMS / PARTS.len() / LANES;
    for features in features() {
        for part in PARTS {
            let compiled = || {
                let jit = Jit::new(Wasmi::new(features), features, Cpu::detect()).with_parts(part);
                let codes = [(); LANES].map(|()| jit.code());
                Lanes::new(jit, codes)
            };
            let with = format!("{features:?}, parts of {part}");
            compare(version, rounds, &mut random, compiled, &with);
        }
    }
    say(format_args!(
        "{version}: {} programs in wasmi",
        rounds * LANES * PARTS.len() * FEATURES.len()
    ));
}
