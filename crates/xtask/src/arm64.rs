//! Tests of the core on ARM64, in an emulator.

use anyhow::Result;

use crate::check::TEST_PROFILE;
use crate::process;
use crate::report::Report;
use crate::setup;
use crate::tier::Tier;

/// The runs: a package, a test of it, and the beginning of the tests' names. Emulated, a test of the
/// interpreter takes a minute, and no page is refused that another test expects to be.
const RUNS: [(&str, &str, &str); 5] = [
    ("randomx-core", "jit", "native::"),
    ("randomx-core", "jit", "fork::a_limit_on_file_sizes_leaves_machine_code"),
    ("randomx-core", "rounding", ""),
    ("randomx-core", "environment", "phases_are_timed_in_any_environment"),
    ("randomx-conformance", "vectors", "parts::parts_on"),
];

/// Runs random programs, whole hashes, rounding, the caller's floating point environment and the vectors of
/// all parts. The emulator rounds as a processor does and has AES instructions; its times mean nothing.
pub(crate) fn test(report: &Report, tier: Tier) -> Result<()> {
    let steps = RUNS.map(|(package, test, name)| format!("ARM64, {package}, {test} {name}"));
    let tools = report
        .step("set up: linker and emulator for ARM64", || setup::foreign_tools(&setup::ARM64));
    let tools = report.needed_by(&steps, tools)?;
    for ((package, test, name), step) in RUNS.into_iter().zip(steps) {
        report.check(step, || {
            let mut cargo = tools.cargo("test")?;
            cargo.args(["--profile", TEST_PROFILE, "--package", package, "--test", test, name]);
            process::run(tier.announce(&mut cargo))
        })?;
    }
    Ok(())
}

#[test]
fn each_run_has_tests() {
    for (package, test, name) in RUNS {
        crate::selected::assert_runs(package, &format!("tests/{test}"), name);
    }
}
