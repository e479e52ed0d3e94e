//! Tests of the core on ARM64, in an emulator.

use std::process::Command;

use anyhow::Result;

use crate::check::TEST_PROFILE;
use crate::process;
use crate::report::Report;
use crate::setup::{self, Arm64Tools};
use crate::tier::Tier;

/// The flags of the compiler for the target, with separators between them.
const FLAGS: &str = "CARGO_ENCODED_RUSTFLAGS";
/// The settings of Cargo for the target. A test that starts its own program again reads the second
/// one, too.
const LINKER: &str = "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER";
const RUNNER: &str = "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER";

/// What runs: a package, a test of it, and the beginning of the tests' names. Emulated, a test of the
/// interpreter takes a minute, and no page is refused that another test expects to be.
const RUNS: [(&str, &str, &str); 4] = [
    ("randomx-core", "jit", "native::"),
    ("randomx-core", "jit", "fork::a_limit_on_file_sizes_leaves_machine_code"),
    ("randomx-core", "rounding", ""),
    ("randomx-conformance", "vectors", "parts::parts_on"),
];

/// Runs random programs, whole hashes, rounding and the vectors of all parts. The emulator rounds as a
/// processor does and has AES instructions; its times mean nothing.
pub(crate) fn test(report: &Report, tier: Tier) -> Result<()> {
    let tools = report.step("set up: linker and emulator for ARM64", setup::arm64_tools)?;
    for (package, test, name) in RUNS {
        report.step(format!("ARM64, {package}, {test} {name}"), || {
            process::run(cargo_test(&tools, tier)?.args([
                "--package",
                package,
                "--test",
                test,
                name,
            ]))
        })?;
    }
    Ok(())
}

fn cargo_test(tools: &Arm64Tools, tier: Tier) -> Result<Command> {
    let mut cargo = tools.rust.command("cargo")?;
    if let Some(sysroot) = &tools.sysroot {
        cargo.env(FLAGS, format!("--sysroot\u{1f}{}", sysroot.display()));
    }
    cargo.env(LINKER, "aarch64-linux-gnu-gcc");
    cargo.env(RUNNER, format!("{} -L /usr/aarch64-linux-gnu", setup::EMULATOR));
    cargo.args(["test", "--locked", "--profile", TEST_PROFILE, "--target", setup::ARM64]);
    tier.announce(&mut cargo);
    Ok(cargo)
}
