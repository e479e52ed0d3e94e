//! Machine code for x86-64.

use randomx::Version;
use randomx::cpu::Cpu;
use randomx::jit::CodePages;
use randomx::jit::x86_64::program::Jit;
use randomx_testing::say;

use super::lanes::{LANES, Lanes, compare};
use super::random::Random;

/// The number of random programs for each version.
const PROGRAMS: usize = 100_000;

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
        let rounds = PROGRAMS / levels.len() / LANES + 1;
        let compiled = || {
            let jit = Jit::new(cpu, pages);
            Lanes::new(jit, [(); LANES].map(|()| jit.code().expect("executable memory")))
        };
        compare(version, rounds, &mut random, compiled, &format!("{cpu}, {pages:?}"));
    }
    say(format_args!(
        "{version}: {PROGRAMS} programs as machine code of {} processors",
        levels.len()
    ));
}
