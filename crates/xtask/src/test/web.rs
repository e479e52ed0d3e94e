//! The tests of the package and the page, in Node.js, bundlers and browsers.

use std::path::Path;
use std::process::Command;
use std::sync::mpsc::Receiver;
use std::sync::{OnceLock, PoisonError};

use anyhow::{Context, Result};

use super::independent::{Rest, Step};
use super::{Built, PACKAGE, VITEST, rust_tests, sources};
use crate::build::{self, NATIVE};
use crate::check::TEST_PROFILE;
use crate::report::Report;
use crate::setup::{self, Browsers};
use crate::tier::{System, Tier};
use crate::{check, process, workspace};

/// Builds wasm, and tests the package and the page in Node.js, bundlers and browsers. These tests use
/// the native add-on and the program `randomx`, so they wait for the build of Rust's tests. Lints that
/// need the build of wasm are added to `rest`.
pub(super) fn test<'a>(
    report: &'a Report,
    tier: Tier,
    system: System,
    monerod: Option<&Path>,
    built: Built,
    browsers: &OnceLock<Browsers>,
    rest: &Rest<'a>,
) -> Result<()> {
    let builds = build(report, system, &built.rust, browsers, rest);
    let browsers = report.needed_by(&STEPS, builds)?;
    for sender in &built.all {
        // In the quick tier, no series waits.
        let _ = sender.send(());
    }
    sources::test(report, tier)?;
    match tier {
        Tier::Quick => packaging(report, tier, browsers)?,
        // The tests of the C library compile programs for the browser tests.
        Tier::Full => rust_tests(report, tier, system, monerod)?,
    }
    report.check("playwright", || match system {
        System::Debian => {
            let mut playwright = playwright(tier, system, browsers, &UNTIMED)?;
            playwright.envs(monerod.map(|path| (setup::MONEROD_PATH, path)));
            // The reporter fails the run if a browser lacks a cell of the tier's grid.
            process::run(playwright.env("E2E_WHOLE", "1"))
        }
        System::Any => process::run(&mut playwright(tier, system, browsers, &UNTIMED_CHROMIUM)?),
    })
}

/// The full tier's steps that need what `build` sets up and builds, and its own steps.
const STEPS: [&str; 11] = [
    "wasm build",
    "clippy and rustdoc, wasm",
    "actionlint",
    "eslint",
    "prettier",
    "tsc",
    "web build",
    "package build",
    "vitest",
    "Rust tests",
    "playwright",
];

/// Tests the package as users install it.
pub(super) fn packaging(report: &Report, tier: Tier, browsers: &Browsers) -> Result<()> {
    report.check(PACKAGING, || {
        let mut vitest = browsers.run(VITEST)?;
        vitest.args(["run", "--config", "tests/packaging/vitest.config.ts"]).env(PACKAGE, "built");
        process::run(tier.announce(&mut vitest))
    })
}

/// The step of [`packaging`].
pub(super) const PACKAGING: &str = "packaging";

/// Builds what the tests of the package and the page use, and waits for the build of the Rust tests.
fn build<'a, 'b>(
    report: &'a Report,
    system: System,
    is_rust_built: &Receiver<()>,
    browsers: &'b OnceLock<Browsers>,
    rest: &Rest<'a>,
) -> Result<&'b Browsers> {
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
    is_rust_built.recv().context("the Rust tests were not built")?;
    Ok(browsers)
}

/// The projects of `tests/e2e/playwright.config.ts` that do not compare times.
const UNTIMED: [&str; 3] = ["engine-*", "page-*", "chromium"];

/// Those of them that use Chromium.
const UNTIMED_CHROMIUM: [&str; 3] = ["engine-chromium", "page-chromium", "chromium"];

/// The spec of the C library. Only the tests of `randomx-capi` write its files, and the portable tests leave them out.
const C_LIBRARY_SPEC: &str = r"capi\.spec\.ts";

/// Returns a command that runs the browser tests of these projects.
pub(super) fn playwright(
    tier: Tier,
    system: System,
    browsers: &Browsers,
    projects: &[&str],
) -> Result<Command> {
    let mut playwright = browsers.playwright()?;
    playwright.args(["test", "--config", "tests/e2e/playwright.config.ts"]);
    playwright.args(projects.iter().flat_map(|name| ["--project", name]));
    playwright.env(NATIVE, build::native_path(TEST_PROFILE));
    if system == System::Any {
        playwright.args(["--grep-invert", C_LIBRARY_SPEC]);
    }
    // The tests of the C library are in this folder.
    playwright.env("CARGO_TARGET_DIR", workspace::target_dir());
    tier.announce(&mut playwright);
    Ok(playwright)
}

#[test]
fn the_spec_of_the_c_library_has_this_name() {
    let name = C_LIBRARY_SPEC.replace('\\', "");
    assert!(workspace::root().join("tests/e2e").join(name).is_file());
}
