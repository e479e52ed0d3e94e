//! Tests on Windows, in Wine.

use anyhow::Result;

use crate::check::TEST_PROFILE;
use crate::report::Report;
use crate::tier::Tier;
use crate::{addon, process, setup};

/// The packages whose tests run: the core, Monero's rules, the program `randomx`, what it is made of, and the native
/// add-on.
const PACKAGES: [&str; 9] = [
    "randomx-core",
    "randomx-monero",
    "randomx-http",
    "randomx-files",
    "randomx-client",
    "randomx-guard",
    "randomx-console",
    "randomx-cli",
    "randomx-node",
];

/// The steps after the set-up.
const BUILD: &str = "Windows, build";
const TESTS: &str = "Windows, tests";

/// Builds the tests for Windows and runs them. Wine runs machine code on the processor itself, so only
/// what asks the system is slower.
pub(crate) fn test(report: &Report, tier: Tier) -> Result<()> {
    let tools =
        report.step("set up: linker for Windows, Wine", || setup::foreign_tools(&setup::WINDOWS));
    let tools = report.needed_by(&[BUILD, TESTS], tools)?;
    let test = |more: &[&str]| {
        let mut cargo = tools.cargo("test")?;
        cargo.envs(addon::stand_in_for_node(setup::WINDOWS.target, tools.c_compiler())?);
        cargo.args(["--profile", TEST_PROFILE, "--lib", "--bins", "--tests"]);
        cargo.args(PACKAGES.iter().flat_map(|package| ["--package", package]));
        process::run(tier.announce(cargo.args(more)))
    };
    report.needed_by(&[TESTS], report.step(BUILD, || test(&["--no-run"])))?;
    report.check(TESTS, || test(&["--no-fail-fast"]))
}
