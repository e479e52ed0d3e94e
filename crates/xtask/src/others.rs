//! Tests of the interpreter on processors without compiled programs, in emulators.

use anyhow::Result;

use crate::check::TEST_PROFILE;
use crate::process;
use crate::report::Report;
use crate::setup::{self, Foreign};
use crate::tier::Tier;

/// RISC-V, two processors with 32 bits, and one whose numbers begin with their most significant byte.
const TARGETS: [&Foreign; 4] = [&setup::RISCV64, &setup::I686, &setup::ARMV7, &setup::S390X];

/// The beginnings of the names of the tests that run. Emulated, a cache takes minutes, so it is filled once on
/// each processor, for whole hashes.
const TESTS: [&str; 2] = ["parts::parts_on", "hashes::one_key"];

/// Runs the vectors of all parts but the cache, and whole hashes of one key.
pub(crate) fn test(report: &Report) -> Result<()> {
    for foreign in TARGETS {
        let name = foreign.name;
        let tools = report.step(format!("set up: linker and emulator for {name}"), || {
            setup::foreign_tools(foreign)
        })?;
        report.check(format!("{name}, vectors"), || {
            let mut cargo = tools.cargo("test")?;
            cargo.args(["--profile", TEST_PROFILE, "--package", "randomx-conformance"]);
            cargo.args(["--test", "vectors", "--"]).args(TESTS);
            // The full amount of inputs would take hours here.
            process::run(Tier::Quick.announce(&mut cargo))
        })?;
    }
    Ok(())
}
