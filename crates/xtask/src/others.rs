//! Tests of the interpreter on processors without compiled programs, in emulators. Where the kernel starts programs of
//! 32 bits, those for i686 run without one.

use anyhow::Result;

use crate::check::TEST_PROFILE;
use crate::process;
use crate::report::{self, Report};
use crate::setup::{self, Foreign};
use crate::tier::Tier;

/// RISC-V, two processors with 32 bits, and one whose numbers begin with their most significant byte.
const TARGETS: [&Foreign; 4] = [&setup::RISCV64, &setup::I686, &setup::ARMV7, &setup::S390X];

/// The package with the vectors, and its test of them.
const PACKAGE: &str = "randomx-conformance";
const TARGET: &str = "vectors";

/// The beginnings of the names of the tests that run. Emulated, a cache takes minutes, so it is filled once on
/// each processor, for whole hashes.
const TESTS: [&str; 2] = ["parts::parts_on", "hashes::one_key"];

/// Runs the vectors of all parts but the cache, and whole hashes of one key.
pub(crate) fn test(report: &Report) -> Result<()> {
    // Without the tools for one processor, those for the next may be there.
    report::together(TARGETS.into_iter().filter_map(|foreign| test_on(report, foreign).err()))
}

fn test_on(report: &Report, foreign: &'static Foreign) -> Result<()> {
    let name = foreign.name;
    let step = format!("{name}, vectors");
    let tools = report
        .step(format!("set up: linker and emulator for {name}"), || setup::foreign_tools(foreign));
    let tools = report.needed_by(&[&step], tools)?;
    report.check(step, || {
        let mut cargo = tools.cargo("test")?;
        cargo.args(["--profile", TEST_PROFILE, "--package", PACKAGE]);
        cargo.args(["--test", TARGET, "--"]).args(TESTS);
        // The full amount of inputs would take hours here.
        process::run(Tier::Quick.announce(&mut cargo))
    })
}

#[test]
fn each_name_selects_a_test() {
    for name in TESTS {
        crate::selected::assert_runs(PACKAGE, &format!("tests/{TARGET}"), name);
    }
}
