//! The tests, in two tiers.

mod independent;
mod soak;
mod sources;
mod web;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::mpsc::{self, Receiver, Sender};

use anyhow::{Context, Error, Result};

use self::independent::{Rest, run_all};
use crate::build::{self, NATIVE};
use crate::check::TEST_PROFILE;
use crate::native_tests::cargo_test;
use crate::process::Yields;
use crate::report::{Report, Series};
use crate::setup::{self, Browsers, Node};
use crate::tier::{System, Tier};
use crate::{addon, check, compiler, fuzz, output, process};

/// Checks and tests everything that belongs to a tier.
///
/// Series of steps run side by side: one with cargo and one with Node.js. The full tier has five more: one checks
/// dependencies, one runs what no step waits for, such as the tests with daemons, one runs the independent steps at low
/// priority, and two, at the lowest priority, run what lasts for a given time. When the series of cargo, of Node.js and
/// of the daemons have ended, they run independent steps. The browser tests that compare times run alone.
///
/// Hashing tests of two series would push each other's scratchpads out of the processor's cache. So in the full tier
/// the Rust tests belong to the series with Node.js, and the one with cargo compiles and lints beside it.
pub(crate) fn test(report: &Report, tier: Tier, system: System) -> Result<()> {
    if system == System::Debian {
        setup::assert_firefox_exists()?;
    }
    check::rustfmt(report)?;
    let monerod = report.needed_by(&["all other steps"], prepare(report, tier, system))?;
    let monerod = monerod.as_deref();
    let (rust_built, is_rust_built) = mpsc::channel();
    let browsers = OnceLock::new();
    let rest = Rest::new(independent::steps(report, tier, system));
    let later = match tier {
        Tier::Quick => Vec::new(),
        Tier::Full => after_builds(report, system, monerod, &browsers, &rest),
    };
    let (mut all_built, are_all_built): (Vec<_>, Vec<_>) =
        later.iter().map(|_| mpsc::channel()).unzip();
    let (sender, is_all_built) = mpsc::channel();
    all_built.push(sender);
    let mut series: Vec<Series> = vec![
        Box::new(|| {
            rust(report, tier, system, rust_built)?;
            run_all(&rest, tier)
        }),
        Box::new(|| {
            let built = Built { rust: is_rust_built, all: all_built };
            web::test(report, tier, system, monerod, built, &browsers, &rest)?;
            run_all(&rest, tier)
        }),
    ];
    let unbegun = &rest;
    for ((names, run), built) in later.into_iter().zip(are_all_built) {
        // Without a message, a build has failed. The independent steps need none.
        let built = move || built.recv().map_err(Error::from);
        series.push(Box::new(move || match report.needed_by(names, built()) {
            Ok(()) => run(),
            Err(_) => run_all(unbegun, tier),
        }));
    }
    let ended = side_by_side(report, tier, series, || check::dependencies(report));
    let built = report.needed_by(&[TIMED], is_all_built.recv().map_err(Error::from));
    let timed = built.and_then(|()| {
        report.check(TIMED, || {
            process::run(&mut web::playwright(tier, system, found(&browsers)?, &["timed"])?)
        })
    });
    ended.and(timed)
}

/// The step that runs alone.
const TIMED: &str = "playwright, tests of times";

/// Runs series of steps. In the full tier, another one checks dependencies, which no other step needs.
fn side_by_side<'a>(
    report: &'a Report,
    tier: Tier,
    mut series: Vec<Series<'a>>,
    dependencies: impl FnOnce() -> Result<()> + Send + 'a,
) -> Result<()> {
    if tier == Tier::Full {
        series.push(Box::new(move || report.needed_by(&["cargo deny"], dependencies())));
    }
    report.side_by_side(series)
}

/// Installs the full tier's tools, which the quick tier leaves out. Returns the path of Monero's daemon.
fn prepare(report: &Report, tier: Tier, system: System) -> Result<Option<PathBuf>> {
    match (tier, system) {
        (Tier::Full, System::Debian) => {
            report.step("set up: tools of the full tests", full_tools).map(Some)
        }
        (Tier::Full, System::Any) | (Tier::Quick, _) => Ok(None),
    }
}

/// The browsers, once they are set up.
fn found(browsers: &OnceLock<Browsers>) -> Result<&Browsers> {
    browsers.get().context("the browsers were not set up")
}

/// Messages about builds, which the series with Node.js receives and sends.
struct Built {
    /// Receives one when the Rust tests, the program `randomx` and the native add-on are built.
    rust: Receiver<()>,
    /// Each sends one to a series or a step that waits for the Rust tests, wasm, the page and the package.
    all: Vec<Sender<()>>,
}

/// The names of a series' steps, and the series.
type Later<'a> = (&'static [&'static str], Series<'a>);

/// Returns the full tier's series that begin when all is built; before that, they would slow the builds down.
fn after_builds<'a, 'rest: 'a>(
    report: &'a Report,
    system: System,
    monerod: Option<&'a Path>,
    browsers: &'a OnceLock<Browsers>,
    rest: &'a Rest<'rest>,
) -> Vec<Later<'a>> {
    let waits = if monerod.is_some() { &WAITING[..] } else { &WAITING[1..] };
    let mut series: Vec<Later> = vec![
        (
            waits,
            Box::new(move || {
                waiting(report, system, monerod, browsers)?;
                run_all(rest, Tier::Full)
            }),
        ),
        (&[], Box::new(|| run_all(rest, Tier::Full))),
        (
            &[SOAK],
            Box::new(|| {
                process::lower_priority(Yields::Fully);
                report.check(SOAK, || soak::test(found(browsers)?))
            }),
        ),
    ];
    if system == System::Debian {
        let fuzzing = || fuzzing(report, fuzz::build, fuzz::a_minute_of_each);
        series.push((&FUZZING, Box::new(fuzzing)));
    }
    series
}

/// The steps of these series.
const WAITING: [&str; 4] = [REGTEST, WHEEL, sources::NATIVE, web::PACKAGING];
const REGTEST: &str = "vitest, with Monero's daemon";
const WHEEL: &str = "Python wheel";
const SOAK: &str = "soak";
const FUZZING: [&str; 2] = ["fuzzing, build", "fuzzing, a minute of each target"];

/// Builds the fuzz targets and runs them. After a failed build, those of an earlier one would run.
fn fuzzing(
    report: &Report,
    build: impl FnOnce() -> Result<()>,
    run: impl FnOnce() -> Result<()>,
) -> Result<()> {
    let [build_step, run_step] = FUZZING;
    process::lower_priority(Yields::Mostly);
    report.needed_by(&[run_step], report.step(build_step, build))?;
    process::lower_priority(Yields::Fully);
    report.check(run_step, run)
}

/// Runs the full tier's tests that wait for daemons or downloads, and others that no step waits for.
fn waiting(
    report: &Report,
    system: System,
    monerod: Option<&Path>,
    browsers: &OnceLock<Browsers>,
) -> Result<()> {
    if let Some(monerod) = monerod {
        report.check(REGTEST, || process::run(&mut regtest(Tier::Full, monerod)?))?;
    }
    report.check(WHEEL, || {
        if system == System::Any && !setup::has_python() {
            // In the full tier, the test would fail.
            output::line("skipped: no python3 with venv and ensurepip");
            return Ok(());
        }
        let mut test = cargo_test(Tier::Full, system);
        process::run(test.args(["--test", "wheel", "--", "--include-ignored"]))
    })?;
    sources::test_native(report)?;
    web::packaging(report, Tier::Full, found(browsers)?)
}

/// Installs the programs that only the full tier uses, and returns the path of Monero's daemon.
fn full_tools() -> Result<PathBuf> {
    setup::cpp_tools()?;
    setup::c_library_tools()?;
    setup::dieharder()?;
    setup::python()?;
    setup::monerod()
}

/// Builds the Rust tests and checks Rust code; the quick tier also runs the tests. The build includes the program
/// `randomx` and the native add-on; when they are there, `built` receives a message.
fn rust(report: &Report, tier: Tier, system: System, built: Sender<()>) -> Result<()> {
    let tests = report.step("Rust tests, build", || {
        let mut build = cargo_test(tier, system);
        compiler::shorten(&mut build)?;
        let used = [build::native_path(TEST_PROFILE), addon::tested_library(TEST_PROFILE)];
        build::cargo(build.arg("--no-run"), &used)
    });
    report.needed_by(&LINTS, tests.and_then(|()| addon::place_tested(TEST_PROFILE)))?;
    // The series with Node.js may have failed and no longer wait.
    let _ = built.send(());
    if tier == Tier::Full {
        // The series with Node.js takes longer.
        process::lower_priority(Yields::Somewhat);
        return check::native(report, tier, system);
    }
    check::native(report, tier, system)?;
    rust_tests(report, tier, system, None)
}

/// The steps that follow the build of the Rust tests.
const LINTS: [&str; 3] = ["clippy, native", "clippy and rustdoc, randomx alone", "rustdoc"];

fn rust_tests(report: &Report, tier: Tier, system: System, monerod: Option<&Path>) -> Result<()> {
    report.check("Rust tests", || {
        let mut test = cargo_test(tier, system);
        test.envs(monerod.map(|path| (setup::MONEROD_PATH, path)));
        if tier == Tier::Full {
            test.args(["--no-fail-fast", "--", "--include-ignored", "--skip", PYTHON_WHEEL]);
            if system == System::Any {
                test.args(DIEHARDER.iter().flat_map(|name| ["--skip", name]));
            }
        }
        process::run(&mut test)
    })
}

/// The test in `crates/python/tests/wheel.rs` that builds the Python wheel, and then waits for pip.
const PYTHON_WHEEL: &str = "the_wheel_works_in_a_fresh_environment";

/// The tests of `randomx-lab` that need dieharder, which the portable setup does not install.
const DIEHARDER: [&str; 3] = [
    "dieharder::tests::constant_bytes_fail",
    "design::rng::tests::quick_tests_pass",
    "design::rng::tests::no_repetition_of_a_test_reads_more_than_is_skipped",
];

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

#[cfg(test)]
mod tests {
    use std::{fs, thread};

    use anyhow::bail;

    use super::{DIEHARDER, PYTHON_WHEEL, fuzzing, side_by_side};
    use crate::report::{Report, Series};
    use crate::tier::Tier;
    use crate::{selected, workspace};

    #[test]
    fn the_full_tests_go_on_without_cargo_deny() {
        let report = Report::keeping_going();
        let mut is_tested = false;
        let other: Series = Box::new(|| {
            report.check("tests of other things", || {
                is_tested = true;
                Ok(())
            })
        });
        let set_up = || report.step("set up of cargo-deny, failing", || bail!("no network"));
        let ended = side_by_side(&report, Tier::Full, vec![other], set_up);
        let error = format!("{:#}", ended.expect_err("a failure"));
        assert_eq!(error, "the step \"set up of cargo-deny, failing\" failed: no network");
        assert!(is_tested);
    }

    #[test]
    fn targets_whose_build_failed_do_not_run() {
        let report = Report::keeping_going();
        let run = || fuzzing(&report, || bail!("no compiler"), || panic!("the targets ran"));
        // The function lowers the priority of its thread.
        let end = thread::scope(|scope| scope.spawn(run).join());
        let error = format!("{:#}", end.expect("no panic").expect_err("a failure"));
        assert_eq!(error, "the step \"fuzzing, build\" failed: no compiler");
    }

    #[test]
    fn tests_that_run_elsewhere_or_not_at_all_exist() {
        selected::assert_exists("randomx-python", "tests/wheel", PYTHON_WHEEL);
        for name in DIEHARDER {
            selected::assert_exists("randomx-lab", "src", name);
        }
    }

    /// The portable tests would fail in others.
    #[test]
    fn all_tests_that_need_dieharder_are_known() {
        let lab = workspace::root().join("crates/lab/src");
        let mut folders = vec![lab];
        let mut found = 0;
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("a folder").flatten() {
                match fs::read_to_string(entry.path()) {
                    Ok(text) => found += text.matches("needs dieharder").count(),
                    Err(_) => folders.push(entry.path()),
                }
            }
        }
        assert_eq!(found, DIEHARDER.len());
    }
}
