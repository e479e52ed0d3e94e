//! Machine code for this processor.

use randomx::Version;
use randomx::cpu::Cpu;
use randomx::jit::CodePages;
use randomx::jit::native;
use randomx_testing::{amount, say};

use super::lanes::{LANES, Lanes, compare};
use super::random::Random;

/// The number of random programs for each version. Tests for ARM64 usually run in an emulator.
fn programs() -> usize {
    if cfg!(target_arch = "aarch64") { amount(2_000, 100_000) } else { 100_000 }
}

#[test]
fn v1_programs_leave_the_same_state() {
    compare_levels(Version::V1);
}

#[test]
fn v2_programs_leave_the_same_state() {
    compare_levels(Version::V2);
}

fn compare_levels(version: Version) {
    let levels = Cpu::detect().levels();
    let mut random = Random::new(version);
    for (index, &cpu) in levels.iter().enumerate() {
        let pages = if index % 2 == 0 { CodePages::Aliased } else { CodePages::Flipped };
        let rounds = programs() / levels.len() / LANES + 1;
        let compiled = || {
            let jit = native::jit(cpu, pages).expect("a compiler for this processor");
            Lanes::new(jit, [(); LANES].map(|()| jit.code().expect("executable memory")))
        };
        compare(version, rounds, &mut random, compiled, &format!("{cpu}, {pages:?}"));
    }
    say(format_args!(
        "{version}: {} programs as machine code of {} processors",
        programs(),
        levels.len()
    ));
}
