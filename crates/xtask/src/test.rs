//! The whole test run, and the benchmarks.

use anyhow::Result;

use crate::build::{self, NATIVE};
use crate::check::TEST_PROFILE;
use crate::report::Report;
use crate::setup::{self, Node};
use crate::{check, process};

/// Checks, then tests the native build, the wasm build in two Nodes and three browsers, the npm
/// package in fresh projects, the clients with a Monero node, and the page.
pub(crate) fn test(report: &mut Report) -> Result<()> {
    check::check(report)?;
    report.step("set up: Emscripten, Valgrind, librandomx", setup::c_library_tools)?;
    let monerod = report.step("set up: Monero's daemon", setup::monerod)?;
    report.step("set up: dieharder", setup::dieharder)?;
    report.step("cargo test", || {
        let mut test = process::command("cargo");
        test.env(setup::MONEROD_PATH, &monerod);
        process::run(test.args([
            "test",
            "--workspace",
            "--profile",
            TEST_PROFILE,
            "--all-features",
        ]))
    })?;
    report.step("web build", build::web)?;
    for node in [Node::Installed, Node::Current] {
        report.step(format!("vitest, Node {}", node.version()?), || {
            process::run(node.run("node_modules/vitest/vitest.mjs")?.arg("run"))
        })?;
    }
    let native = report.step("native build", || build::native(TEST_PROFILE))?;
    report.step("vitest, with Monero's daemon", || {
        let mut vitest = Node::Current.run("node_modules/vitest/vitest.mjs")?;
        vitest.args(["run", "--config", "tests/regtest/vitest.config.ts"]);
        vitest.env(NATIVE, &native);
        process::run(vitest.env(setup::MONEROD_PATH, monerod))
    })?;
    let browsers = report.step("set up: Chromium, Firefox, WebKit", setup::browsers)?;
    report.step("packaging", || {
        let mut vitest = browsers.run("node_modules/vitest/vitest.mjs")?;
        process::run(vitest.args(["run", "--config", "tests/packaging/vitest.config.ts"]))
    })?;
    report.step("playwright", || {
        let mut playwright = browsers.playwright()?;
        playwright.env(NATIVE, native);
        playwright.args(["test", "--config", "tests/e2e/playwright.config.ts"]);
        // The reporter fails the run where a browser lacks a set-up that all have to run.
        process::run(playwright.env("E2E_WHOLE", "1"))
    })
}

/// Runs `randomx bench`, in a build that has the reference implementation.
pub(crate) fn bench(args: &[String]) -> Result<()> {
    setup::cpp_tools()?;
    let mut bench = process::command("cargo");
    bench.args(["run", "--release", "--package", "randomx-cli", "--features", "reference", "--"]);
    process::run(bench.arg("bench").args(args))
}

/// Runs the benchmarks of the wasm build in the user's Node.
pub(crate) fn bench_node(args: &[String]) -> Result<()> {
    build::product_from_scratch()?;
    process::run(Node::Installed.run("tests/node/bench.mjs")?.args(args))
}
