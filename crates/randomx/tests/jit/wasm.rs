//! Modules of WebAssembly, run by another implementation of it than any browser's.

use randomx::Version;
use randomx::cpu::Cpu;
use randomx::jit::wasm::Features;
use randomx::jit::wasm::engine::Jit;

use super::lanes::{LANES, Lanes, compare};
use super::random::Random;
use super::wasm_host::{Refusing, Wasmi};

/// Random programs for each version and set of features.
const PROGRAMS: usize = 500;

/// Lengths of a program's parts: one for each branch, some, and one for all.
const PARTS: [usize; 3] = [0, 1000, usize::MAX];

/// What changes the code of programs.
const FEATURES: [(bool, bool); 4] = [(false, false), (true, false), (false, true), (true, true)];

#[test]
fn v1_programs_leave_the_same_state() {
    compare_features(Version::V1);
}

#[test]
fn v2_programs_leave_the_same_state() {
    compare_features(Version::V2);
}

fn compare_features(version: Version) {
    let mut random = Random::new(version);
    for (fused_multiply_add, wide_arithmetic) in FEATURES {
        let features = Features { fused_multiply_add, wide_arithmetic, shared_memory: false };
        for part in PARTS {
            let jit = Jit::new(Wasmi::new(features), features, Cpu::detect()).with_parts(part);
            let codes = [(); LANES].map(|()| jit.code());
            let compiled = Lanes::new(jit, codes);
            let with = format!("{features:?}, parts of {part}");
            compare(version, PROGRAMS / PARTS.len() / LANES, &mut random, compiled, &with);
        }
    }
}

#[test]
fn programs_that_the_host_refuses_are_interpreted() {
    let jit = Jit::new(Refusing, Features::default(), Cpu::detect());
    let codes = [(); LANES].map(|()| jit.code());
    compare(Version::V1, 10, &mut Random::new(Version::V1), Lanes::new(jit, codes), "no modules");
}
