//! The tests, in two tiers.

mod sources;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Mutex, OnceLock, PoisonError};

use anyhow::{Context, Result};

use crate::build::{self, NATIVE};
use crate::check::TEST_PROFILE;
use crate::process::Yields;
use crate::report::{Report, Series};
use crate::setup::{self, Browsers, Node};
use crate::tier::{System, Tier};
use crate::{
    addon, arm64, check, datafusion, foreign_smoke, fuzz, others, process, release, windows,
    workspace,
};

/// Checks and tests everything that belongs to a tier.
///
/// Series of steps run side by side: one with cargo and one with Node.js. The full tier has four more: one waits for
/// daemons and downloads, one runs the independent steps at low priority, and two, at the lowest priority, run what lasts
/// for a given time. A series that ends helps with the independent steps. The browser tests that compare times run alone.
///
/// Hashing tests of two series would push each other's scratchpads out of the processor's cache. So in the full tier
/// the Rust tests belong to the series with Node.js, and the one with cargo compiles and lints beside it.
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
    let monerod = monerod.as_deref();
    let (rust_built, is_rust_built) = mpsc::channel();
    let browsers = OnceLock::new();
    let rest = Rest::new(independent(report, tier, system));
    let later = match tier {
        Tier::Quick => Vec::new(),
        Tier::Full => after_builds(report, system, monerod, &browsers, &rest),
    };
    let (all_built, are_all_built): (Vec<_>, Vec<_>) =
        later.iter().map(|_| mpsc::channel()).unzip();
    let mut series: Vec<Series> = vec![
        Box::new(|| {
            rust(report, tier, system, rust_built)?;
            run_all(&rest, tier)
        }),
        Box::new(|| {
            let built = Built { rust: is_rust_built, all: all_built };
            web(report, tier, system, monerod, built, &browsers, &rest)?;
            run_all(&rest, tier)
        }),
    ];
    let unbegun = &rest;
    for (run, built) in later.into_iter().zip(are_all_built) {
        // Without a message, a build has failed. The independent steps need none.
        series.push(Box::new(move || match built.recv() {
            Ok(()) => run(),
            Err(_) => run_all(unbegun, tier),
        }));
    }
    report.side_by_side(series)?;
    report.check("playwright, tests of times", || {
        process::run(&mut playwright(tier, found(&browsers)?, &["timed"])?)
    })
}

/// The browsers, once they are set up.
fn found(browsers: &OnceLock<Browsers>) -> Result<&Browsers> {
    browsers.get().context("the browsers were not set up")
}

/// Messages about builds, which the series with Node.js receives and sends.
struct Built {
    /// Receives one when the Rust tests, the program `randomx` and the native add-on are built.
    rust: Receiver<()>,
    /// Each sends one to a series that waits for the Rust tests, wasm, the page and the package.
    all: Vec<Sender<()>>,
}

/// A step that any thread may run.
type Step<'a> = Box<dyn FnOnce() -> Result<()> + Send + 'a>;

/// Steps that no thread has begun. Threads take the last one.
type Rest<'a> = Mutex<Vec<Step<'a>>>;

/// Returns the steps without prerequisites.
fn independent(report: &Report, tier: Tier, system: System) -> Vec<Step<'_>> {
    let is_x86_64_debian = system == System::Debian && cfg!(target_arch = "x86_64");
    let mut steps: Vec<Step> = Vec::new();
    if tier == Tier::Quick {
        if is_x86_64_debian {
            steps.push(Box::new(|| foreign_smoke::test(report)));
        }
        return steps;
    }
    steps.push(Box::new(|| check::other_systems(report)));
    if is_x86_64_debian {
        steps.push(Box::new(|| others::test(report)));
        // Debian's Wine runs programs for x86-64 on this processor only. More inputs would only repeat what the native
        // tests do.
        steps.push(Box::new(|| windows::test(report, Tier::Quick)));
    }
    // On an ARM64 processor, the native tests run this code.
    if system == System::Debian && !cfg!(target_arch = "aarch64") {
        steps.push(Box::new(move || arm64::test(report, tier)));
    }
    steps.push(Box::new(|| report.check("release, two builds", release::test)));
    steps
}

/// Runs steps that no thread has begun, until none is left. In the full tier, it first lowers this thread's priority.
fn run_all(rest: &Rest, tier: Tier) -> Result<()> {
    if tier == Tier::Full {
        process::lower_priority(Yields::Mostly);
    }
    loop {
        let next = rest.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let Some(step) = next else { return Ok(()) };
        step()?;
    }
}

/// Returns the full tier's series that begin when all is built; before that, they would slow the builds down.
fn after_builds<'a, 'rest: 'a>(
    report: &'a Report,
    system: System,
    monerod: Option<&'a Path>,
    browsers: &'a OnceLock<Browsers>,
    rest: &'a Rest<'rest>,
) -> Vec<Series<'a>> {
    let mut series: Vec<Series> = vec![
        Box::new(move || {
            waiting(report, system, monerod)?;
            run_all(rest, Tier::Full)
        }),
        Box::new(|| run_all(rest, Tier::Full)),
        Box::new(|| {
            process::lower_priority(Yields::Fully);
            report.check("soak", || soak(found(browsers)?))
        }),
    ];
    if system == System::Debian {
        series.push(Box::new(|| {
            process::lower_priority(Yields::Mostly);
            report.check("fuzzing, build", fuzz::build)?;
            process::lower_priority(Yields::Fully);
            report.check("fuzzing, a minute of each target", fuzz::a_minute_of_each)
        }));
    }
    series
}

/// Runs the full tier's tests that wait for daemons or downloads.
fn waiting(report: &Report, system: System, monerod: Option<&Path>) -> Result<()> {
    if let Some(monerod) = monerod {
        report.check("vitest, with Monero's daemon", || {
            process::run(&mut regtest(Tier::Full, monerod)?)
        })?;
    }
    report.check("Python wheel", || {
        let mut test = cargo_test(Tier::Full, system);
        process::run(test.args(["--test", "wheel", "--", "--include-ignored"]))
    })
}

/// Runs everything at once for ten minutes, or for as many as `RANDOMX_SOAK_MINUTES` says. Priorities do not reach its
/// browser, so it pauses between rounds.
fn soak(browsers: &Browsers) -> Result<()> {
    let mut vitest = browsers.run(VITEST)?;
    vitest.args(["run", "--config", "tests/soak/vitest.config.ts"]).env(PACKAGE, "built");
    vitest.env("RANDOMX_SOAK_ROUND_SECONDS", "15");
    process::run(vitest.env(NATIVE, build::native_path(TEST_PROFILE)))
}

/// Installs the programs that only the full tier uses, and returns the path of Monero's daemon.
fn full_tools() -> Result<PathBuf> {
    setup::cpp_tools()?;
    setup::c_library_tools()?;
    setup::dieharder()?;
    setup::monerod()
}

/// Builds the Rust tests and checks Rust code; the quick tier also runs the tests. The build includes the program
/// `randomx` and the native add-on; when they are there, `built` receives a message.
fn rust(report: &Report, tier: Tier, system: System, built: Sender<()>) -> Result<()> {
    report.step("Rust tests, build", || {
        let mut build = cargo_test(tier, system);
        if tier == Tier::Full {
            datafusion::shorten(&mut build)?;
        }
        process::run(build.arg("--no-run"))
    })?;
    addon::place_tested(TEST_PROFILE)?;
    // The series with Node.js may have failed and no longer wait.
    let _ = built.send(());
    if tier == Tier::Full {
        // The series with Node.js takes longer.
        process::lower_priority(Yields::Somewhat);
        return check::native(report, tier);
    }
    check::native(report, tier)?;
    rust_tests(report, tier, system, None)
}

fn rust_tests(report: &Report, tier: Tier, system: System, monerod: Option<&Path>) -> Result<()> {
    report.check("Rust tests", || {
        let mut test = cargo_test(tier, system);
        test.envs(monerod.map(|path| (setup::MONEROD_PATH, path)));
        if tier == Tier::Full {
            test.args(["--no-fail-fast", "--", "--include-ignored", "--skip", PYTHON_WHEEL]);
        }
        process::run(&mut test)
    })
}

/// The test in `crates/python/tests/wheel.rs` that builds the Python wheel, and then waits for pip.
const PYTHON_WHEEL: &str = "the_wheel_works_in_a_fresh_environment";

/// Builds wasm, and tests the package and the page in Node.js, bundlers and browsers. These tests use
/// the native add-on and the program `randomx`, so they wait for the build of Rust's tests. Lints that
/// need the build of wasm are added to `rest`.
fn web<'a>(
    report: &'a Report,
    tier: Tier,
    system: System,
    monerod: Option<&Path>,
    built: Built,
    browsers: &OnceLock<Browsers>,
    rest: &Rest<'a>,
) -> Result<()> {
    let tools = check::set_up(report)?;
    let installed = match system {
        System::Debian => report.step("set up: Chromium, Firefox, WebKit", setup::browsers)?,
        System::Any => report.step("set up: Chromium", setup::only_chromium)?,
    };
    let browsers = browsers.get_or_init(|| installed);
    check::wasm(report, &tools)?;
    let lints: [Step; 2] =
        [Box::new(|| check::texts(report)), Box::new(move || check::wasm_lints(report, &tools))];
    rest.lock().unwrap_or_else(PoisonError::into_inner).extend(lints);
    check::types(report)?;
    report.step("web build", build::web)?;
    report.step("package build", build::package_files)?;
    built.rust.recv().context("the Rust tests were not built")?;
    for sender in &built.all {
        // In the quick tier, no series waits.
        let _ = sender.send(());
    }
    sources::test(report, tier)?;
    report.check("packaging", || {
        let mut vitest = browsers.run(VITEST)?;
        vitest.args(["run", "--config", "tests/packaging/vitest.config.ts"]);
        process::run(tier.announce(&mut vitest))
    })?;
    if tier == Tier::Full {
        // The tests of the C library compile programs for the browser tests.
        rust_tests(report, tier, system, monerod)?;
    }
    report.check("playwright", || match system {
        System::Debian => {
            let mut playwright = playwright(tier, browsers, &UNTIMED)?;
            playwright.envs(monerod.map(|path| (setup::MONEROD_PATH, path)));
            // The reporter fails the run if a browser lacks a cell of the tier's grid.
            process::run(playwright.env("E2E_WHOLE", "1"))
        }
        System::Any => process::run(&mut playwright(tier, browsers, &UNTIMED_CHROMIUM)?),
    })
}

/// The projects of `tests/e2e/playwright.config.ts` that do not compare times.
const UNTIMED: [&str; 3] = ["engine-*", "page-*", "chromium"];

/// Those of them that use Chromium.
const UNTIMED_CHROMIUM: [&str; 3] = ["engine-chromium", "page-chromium", "chromium"];

fn playwright(tier: Tier, browsers: &Browsers, projects: &[&str]) -> Result<Command> {
    let mut playwright = browsers.playwright()?;
    playwright.args(["test", "--config", "tests/e2e/playwright.config.ts"]);
    playwright.args(projects.iter().flat_map(|name| ["--project", name]));
    playwright.env(NATIVE, build::native_path(TEST_PROFILE));
    // The tests of the C library are in this folder.
    playwright.env("CARGO_TARGET_DIR", workspace::target_dir());
    tier.announce(&mut playwright);
    Ok(playwright)
}

/// The features of the full tests. `randomx-fuzz/libfuzzer` is not among them: `cargo xtask fuzz` builds its programs.
const FEATURES: &str = "randomx-cli/reference,randomx-conformance/reference,randomx-fuzz/wasmi";

fn cargo_test(tier: Tier, system: System) -> Command {
    let mut test = process::command("cargo");
    test.args(["test", "--locked", "--workspace", "--profile", TEST_PROFILE]);
    check::without_other_packages(&mut test, tier);
    match system {
        // The features need CMake and a C++ compiler.
        System::Debian if tier == Tier::Full => test.args(["--features", FEATURES]),
        System::Debian => &mut test,
        System::Any => test.args(["--exclude", "randomx-capi"]),
    };
    tier.announce(&mut test);
    test
}

const VITEST: &str = "node_modules/vitest/vitest.mjs";

/// The variable that tells tests that the package is built: `tests/node/build.ts`.
const PACKAGE: &str = "RANDOMX_PACKAGE";

fn vitest(node: Node, config: &str, tier: Tier) -> Result<Command> {
    let mut vitest = node.run(VITEST)?;
    vitest.args(["run", "--config", config]).env(PACKAGE, "built");
    tier.announce(&mut vitest);
    Ok(vitest)
}

fn regtest(tier: Tier, monerod: &Path) -> Result<Command> {
    let mut vitest = vitest(Node::Current, "tests/regtest/vitest.config.ts", tier)?;
    vitest.env(NATIVE, build::native_path(TEST_PROFILE)).env(setup::MONEROD_PATH, monerod);
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
