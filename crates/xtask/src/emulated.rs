//! Tests of machine code for x86-64 in an emulator. Unlike a processor, QEMU does not notice that code was replaced
//! through another address.

use anyhow::{Result, ensure};

use crate::native_tests::cargo_test;
use crate::process;
use crate::report::Report;
use crate::setup;
use crate::tier::{System, Tier};

/// The program of tests, and the names of those that run.
const PROGRAM: &str = "jit";
const TESTS: [&str; 2] =
    ["replaced::replaced_code_runs", "fork::whole_hashes_are_right_with_each_kind_of_pages"];

/// Cargo starts tests with the program that this variable names.
const RUNNER: &str = "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER";

/// Replaces code, and computes whole hashes of each version.
pub(crate) fn test(report: &Report) -> Result<()> {
    const STEP: &str = "x86-64, in an emulator";
    let emulator = report.step("set up: emulator for x86-64", setup::x86_64_emulator);
    let emulator = report.needed_by(&[STEP], emulator)?;
    report.check(STEP, || {
        // Elsewhere cargo builds for another target, and ignores the variable.
        let is_native = cfg!(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu"));
        ensure!(is_native, "this test needs Linux on x86-64 with the GNU C library");
        // With the packages and features of the Rust tests, cargo takes the program that they built. For the package of
        // the core alone it would choose other features of dependencies, and compile the core again.
        let mut cargo = cargo_test(Tier::Full, System::Debian);
        cargo.args(["--test", PROGRAM, "--"]).args(TESTS).env(RUNNER, emulator);
        process::run(Tier::Quick.announce(&mut cargo))
    })
}

#[test]
fn each_name_selects_a_test() {
    for name in TESTS {
        crate::selected::assert_runs("randomx-core", &format!("tests/{PROGRAM}"), name);
    }
}
