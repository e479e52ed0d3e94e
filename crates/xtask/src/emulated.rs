//! Tests of machine code for x86-64 in an emulator. Unlike a processor, QEMU does not notice that code was replaced
//! through another address.

use anyhow::{Result, ensure};

use crate::check::TEST_PROFILE;
use crate::process;
use crate::report::Report;
use crate::setup;
use crate::tier::Tier;

/// The package of the core.
const PACKAGE: &str = "randomx-core";

/// The runs: arguments that choose a program of tests, the folder of its sources, and the name of a test.
const RUNS: [(&[&str], &str, &str); 2] = [
    (&["--lib"], "src", "jit::code_memory::tests::replaced_code_runs"),
    (&["--test", "jit"], "tests/jit", "fork::whole_hashes_are_right_with_each_kind_of_pages"),
];

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
        for (program, _, test) in RUNS {
            let mut cargo = process::command("cargo");
            cargo.args(["test", "--locked", "--profile", TEST_PROFILE, "--package", PACKAGE]);
            cargo.args(program).arg(test).env(RUNNER, emulator);
            process::run(Tier::Quick.announce(&mut cargo))?;
        }
        Ok(())
    })
}

#[test]
fn each_run_has_a_test() {
    for (_, sources, test) in RUNS {
        crate::selected::assert_runs(PACKAGE, sources, test);
    }
}
