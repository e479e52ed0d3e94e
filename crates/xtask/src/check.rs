//! Formats, lints, types and documentation.

use anyhow::Result;

use crate::report::Report;
use crate::setup::{self, Node, TARGET};
use crate::{build, process};

/// The packages that go to wasm.
const WASM_PACKAGES: [&str; 7] = [
    "randomx",
    "randomx-monero",
    "randomx-figures",
    "randomx-wasm",
    "randomx-monero-wasm",
    "randomx-explore-wasm",
    "randomx-conformance",
];

/// The profile of the tests, in `Cargo.toml`.
pub(crate) const TEST_PROFILE: &str = "checked";

/// Runs every check.
pub(crate) fn check(report: &mut Report) -> Result<()> {
    let cargo = || process::command("cargo");
    report.step("rustfmt", || process::run(cargo().args(["fmt", "--all", "--check"])))?;
    report.step("set up: CMake, C++ compiler", setup::cpp_tools)?;
    report.step("clippy, native", || {
        let mut clippy = cargo();
        // In the profile of the tests, whose dependencies are then compiled once.
        clippy.args(["clippy", "--profile", TEST_PROFILE, "--workspace", "--all-targets"]);
        clippy.args(["--all-features", "--", "-D", "warnings"]);
        process::run(&mut clippy)
    })?;
    report.step("rustdoc", || {
        let mut doc = cargo();
        doc.args(["doc", "--profile", TEST_PROFILE, "--workspace", "--all-features", "--no-deps"])
            .env("RUSTDOCFLAGS", "-D warnings");
        process::run(&mut doc)
    })?;
    let tools = report.step("set up: npm packages, wasm toolchain", || {
        setup::packages()?;
        setup::wasm_tools()
    })?;
    report.step("clippy, wasm", || {
        let mut clippy = tools.command("cargo-clippy")?;
        clippy.args(["clippy", "--release", "--lib", "--target", TARGET]);
        clippy.args(WASM_PACKAGES.iter().flat_map(|package| ["--package", package]));
        process::run(clippy.args(["--", "-D", "warnings"]))
    })?;
    // The types of the wasm packages come from their build.
    report.step("wasm build", || build::wasm(&tools))?;
    report.step("tsc", || {
        process::run(Node::Installed.run("node_modules/typescript/bin/tsc")?.arg("--noEmit"))
    })?;
    report.step("eslint", || {
        let mut eslint = Node::Installed.run("node_modules/eslint/bin/eslint.js")?;
        eslint.args(["--config", ".config/eslint.config.js", "--max-warnings", "0", "."]);
        process::run(&mut eslint)
    })?;
    report.step("prettier", || {
        let mut prettier = Node::Installed.run("node_modules/prettier/bin/prettier.cjs")?;
        process::run(prettier.args(["--check", "."]))
    })
}
