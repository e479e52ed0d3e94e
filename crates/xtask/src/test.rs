//! The tests, in two tiers.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::build::{self, NATIVE};
use crate::check::TEST_PROFILE;
use crate::report::Report;
use crate::setup::{self, Browsers, Node};
use crate::tier::{System, Tier};
use crate::{arm64, check, process};

/// Checks and tests everything that belongs to a tier.
///
/// Two series of steps run side by side, one with cargo and one with Node.js. Tests in browsers
/// compare times, so they run alone.
pub(crate) fn test(report: &Report, tier: Tier, system: System) -> Result<()> {
    check::rustfmt(report)?;
    if tier == Tier::Full {
        check::dependencies(report)?;
    }
    let monerod = match (tier, system) {
        (Tier::Full, System::Debian) => {
            Some(report.step("set up: tools of the full tests", full_tools)?)
        }
        (Tier::Quick, _) | (_, System::Any) => None,
    };
    let rust = || rust(report, tier, system, monerod.as_deref());
    let ((), browsers) = report.side_by_side(rust, || web(report, tier, system))?;
    // Elsewhere, or on such a processor, the other tests cover it as far as they can.
    if tier == Tier::Full && system == System::Debian && !cfg!(target_arch = "aarch64") {
        arm64::test(report, tier)?;
    }
    let native = build::native_path(TEST_PROFILE);
    if let Some(monerod) = &monerod {
        report.step("vitest, with Monero's daemon", || {
            let mut vitest = vitest(Node::Current, "tests/regtest/vitest.config.ts", tier)?;
            process::run(vitest.env(NATIVE, &native).env(setup::MONEROD_PATH, monerod))
        })?;
    }
    playwright(report, tier, system, &browsers, &native)
}

/// Installs the programs that only the full tier uses, and returns the path of Monero's daemon.
fn full_tools() -> Result<PathBuf> {
    setup::cpp_tools()?;
    setup::c_library_tools()?;
    setup::dieharder()?;
    setup::monerod()
}

/// Checks and tests Rust code. The build of its tests includes the program `randomx`.
fn rust(report: &Report, tier: Tier, system: System, monerod: Option<&Path>) -> Result<()> {
    let build = || process::run(cargo_test(tier, system).arg("--no-run"));
    report.step("Rust tests, build", build)?;
    check::native(report, tier)?;
    report.step("Rust tests", || {
        let mut test = cargo_test(tier, system);
        test.envs(monerod.map(|path| (setup::MONEROD_PATH, path)));
        if tier == Tier::Full {
            test.args(["--", "--include-ignored"]);
        }
        process::run(&mut test)
    })
}

/// Builds and checks wasm and TypeScript, and tests the package in Node.js and bundlers.
fn web(report: &Report, tier: Tier, system: System) -> Result<Browsers> {
    let tools = check::set_up(report)?;
    let browsers = match system {
        System::Debian => report.step("set up: Chromium, Firefox, WebKit", setup::browsers)?,
        System::Any => report.step("set up: Chromium", setup::only_chromium)?,
    };
    check::wasm(report, &tools)?;
    check::scripts(report)?;
    report.step("web build", build::web)?;
    let nodes: &[Node] =
        if tier == Tier::Full { &[Node::Installed, Node::Current] } else { &[Node::Installed] };
    for node in nodes {
        report.step(format!("vitest, Node {}", node.version()?), || {
            process::run(&mut vitest(*node, "vite.config.ts", tier)?)
        })?;
    }
    report.step("packaging", || {
        let mut vitest = browsers.run(VITEST)?;
        vitest.args(["run", "--config", "tests/packaging/vitest.config.ts"]);
        process::run(tier.announce(&mut vitest))
    })?;
    Ok(browsers)
}

/// The projects of `tests/e2e/playwright.config.ts` that use Chromium.
const CHROMIUM: [&str; 4] = ["engine-chromium", "page-chromium", "chromium", "timed"];

fn playwright(
    report: &Report,
    tier: Tier,
    system: System,
    browsers: &Browsers,
    native: &Path,
) -> Result<()> {
    report.step("playwright", || {
        let mut playwright = browsers.playwright()?;
        playwright.args(["test", "--config", "tests/e2e/playwright.config.ts"]);
        match system {
            // The reporter fails the run if a browser lacks a cell of the tier's grid.
            System::Debian => playwright.env("E2E_WHOLE", "1"),
            System::Any => playwright.args(CHROMIUM.iter().flat_map(|name| ["--project", name])),
        };
        playwright.env(NATIVE, native);
        process::run(tier.announce(&mut playwright))
    })
}

fn cargo_test(tier: Tier, system: System) -> Command {
    let mut test = process::command("cargo");
    test.args(["test", "--locked", "--workspace", "--profile", TEST_PROFILE]);
    match system {
        // The features need CMake and a C++ compiler.
        System::Debian if tier == Tier::Full => test.arg("--all-features"),
        System::Debian => &mut test,
        System::Any => test.args(["--exclude", "randomx-capi"]),
    };
    tier.announce(&mut test);
    test
}

const VITEST: &str = "node_modules/vitest/vitest.mjs";

fn vitest(node: Node, config: &str, tier: Tier) -> Result<Command> {
    let mut vitest = node.run(VITEST)?;
    tier.announce(vitest.args(["run", "--config", config]));
    Ok(vitest)
}

/// Runs `randomx bench`, in a build that has the reference implementation.
pub(crate) fn bench(args: &[String]) -> Result<()> {
    setup::cpp_tools()?;
    let randomx = build::native("release", &["reference"])?;
    process::run(process::command(randomx).arg("bench").args(args))
}

/// Runs the benchmarks of the wasm build in the user's Node.js.
pub(crate) fn bench_node(args: &[String]) -> Result<()> {
    build::package_from_scratch()?;
    process::run(Node::Installed.run("tests/node/bench.mjs")?.args(args))?;
    process::run(&mut Node::Installed.run("tests/node/follow-bench.mjs")?)
}
