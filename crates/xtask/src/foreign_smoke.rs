//! A program in C on other systems, for the quick tests: whole hashes by machine code there.

use std::fs::{self, File};

use anyhow::{Context, Result, bail};

use crate::check::TEST_PROFILE;
use crate::report::Report;
use crate::setup::{self, Foreign, ForeignTools};
use crate::{output, process};

/// The systems, and what a program links beside the C library of this repository.
const SYSTEMS: [(&Foreign, &[&str]); 2] = [
    (&setup::WINDOWS, &["-lkernel32", "-lntdll", "-luserenv", "-lws2_32", "-ldbghelp"]),
    (&setup::ARM64, &["-pthread", "-ldl", "-lm"]),
];

/// The program, which hashes each line of its input.
const PROGRAM: &str = "crates/capi/tests/programs/hashes.c";

/// The folder with the library's header.
const INCLUDE: &str = "crates/capi/include";

/// RandomX v1 and v2 of "This is a test" with "test key 000".
const LINES: &str = "\
1 74657374206b657920303030 5468697320697320612074657374
2 74657374206b657920303030 5468697320697320612074657374
";

/// The hashes of these lines, as `tests/vectors/specification-hashes.json` lists them.
pub(crate) const HASHES: [&str; 2] = [
    "639183aae1bf4c9a35884cb46b09cad9175f04efd7684e7262a0ac1c2f0b4e3f",
    "22ec6b861b3eb23686b2efbad69513c967ecfce80983df66c9c5b4fbfb4cdb6f",
];

/// Runs the program on each system whose tools are installed. Installing them takes longer than the quick
/// tests may.
pub(crate) fn test(report: &Report) -> Result<()> {
    for (foreign, libraries) in SYSTEMS {
        let name = foreign.name;
        report.check(format!("{name}, a hash of each version"), || {
            match setup::installed_foreign_tools(foreign)? {
                Some(tools) => hash(&tools, libraries),
                None => {
                    output::line(format_args!(
                        "skipped: the tools for {name} are missing; `cargo xtask setup` installs them"
                    ));
                    Ok(())
                }
            }
        })?;
    }
    Ok(())
}

fn hash(tools: &ForeignTools, libraries: &[&str]) -> Result<()> {
    let mut cargo = tools.cargo("build")?;
    process::run(cargo.args(["--profile", TEST_PROFILE, "--package", "randomx-capi", "--lib"]))?;
    let folder = tools.built(TEST_PROFILE);
    // Wine and QEMU start a file of any name.
    let program = folder.join("hashes.exe");
    let mut compiler = tools.c_compiler();
    compiler.args(["-std=c11", "-O1", "-I", INCLUDE, PROGRAM, "-o"]).arg(&program);
    process::run(compiler.arg(folder.join("librandomx.a")).args(libraries))?;

    let lines = folder.join("hashes.txt");
    fs::write(&lines, LINES).with_context(|| format!("cannot write {}", lines.display()))?;
    let printed = process::read(tools.emulate(&program).stdin(File::open(&lines)?))?;
    if !printed.lines().eq(HASHES) {
        bail!("expected the hashes {HASHES:?}, got {printed:?}");
    }
    Ok(())
}
