//! The browsers of the tests and benchmarks: Chromium, Firefox and WebKit.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::chromium::{Chromium, PLAYWRIGHT, chromium};
use super::debian::{self, Debian};
use super::npm::Node;
use super::{announce, chosen, snap};
use crate::workspace;

/// A program that the browser tests start.
struct Program {
    /// Its possible names, best first.
    names: &'static [&'static str],
    /// Debian's package of it.
    package: &'static str,
    /// The variable with its path for the tests. The user may set it.
    variable: &'static str,
}

const FIREFOX: Program = Program {
    names: &["firefox-esr", "firefox"],
    package: "firefox-esr",
    variable: "FIREFOX_PATH",
};

/// Without Chromium, since Playwright may have its own.
const PROGRAMS: [Program; 3] = [
    FIREFOX,
    // Starts MiniBrowser, which its package depends on.
    Program {
        names: &["WebKitWebDriver"],
        package: "webkit2gtk-driver",
        variable: "WEBKIT_DRIVER_PATH",
    },
    // MiniBrowser needs a display.
    Program { names: &["Xvfb"], package: "xvfb", variable: "XVFB_PATH" },
];

/// The installed browsers: Chromium, and the others if they were asked for.
pub(crate) struct Browsers {
    chromium: Chromium,
    /// Variables of the other programs, and the paths in them.
    paths: Vec<(&'static str, PathBuf)>,
}

/// Fails if this system has no Firefox and packages none. Tests ask before they install anything else.
pub(crate) fn assert_firefox_exists() -> Result<()> {
    assert_firefox(FIREFOX.find()?.is_some(), debian::is_ubuntu())
}

fn assert_firefox(is_installed: bool, is_ubuntu: bool) -> Result<()> {
    ensure!(
        is_installed || !is_ubuntu,
        "Ubuntu packages Firefox only as a snap: install Firefox ESR by hand, on PATH or with its path in {}; \
         `npm test -- --portable` and `cargo xtask setup --portable` leave it out",
        FIREFOX.variable
    );
    Ok(())
}

/// Installs the browsers that are missing.
pub(crate) fn browsers() -> Result<Browsers> {
    assert_firefox_exists()?;
    let chromium = chromium()?;
    let mut missing = Vec::new();
    for program in &PROGRAMS {
        if program.find()?.is_none() {
            missing.push(program.package);
        }
    }
    if !missing.is_empty() {
        install(&missing)?;
    }
    let path = |program: &Program| {
        let found = program.find()?;
        let path = found.with_context(|| {
            format!("the package {} contains no {}", program.package, program.names[0])
        })?;
        Ok((program.variable, path))
    };
    let paths = PROGRAMS.iter().map(path).collect::<Result<_>>()?;
    Ok(Browsers { chromium, paths })
}

/// Installs Chromium if it is missing, and no other browser.
pub(crate) fn only_chromium() -> Result<Browsers> {
    Ok(Browsers { chromium: chromium()?, paths: Vec::new() })
}

impl Browsers {
    /// Returns a command that runs Playwright's test runner with these browsers.
    pub(crate) fn playwright(&self) -> Result<Command> {
        self.run(PLAYWRIGHT)
    }

    /// Returns a command that runs a script of the repository with these browsers.
    pub(crate) fn run(&self, script: &str) -> Result<Command> {
        let mut command = Node::Installed.run(script)?;
        match &self.chromium {
            Chromium::System(path) => command.env("CHROMIUM_PATH", path),
            Chromium::Playwrights => command.env_remove("CHROMIUM_PATH"),
        };
        command.envs(self.paths.iter().map(|(variable, path)| (variable, path)));
        Ok(command)
    }
}

impl Program {
    /// Returns its path if it is installed.
    fn find(&self) -> Result<Option<PathBuf>> {
        let chosen = chosen(self.variable)?;
        Ok(chosen.or_else(|| snap::find_other(self.names)))
    }
}

/// Installs packages one by one: not every system has all of them.
fn install(packages: &[&str]) -> Result<()> {
    announce(&format!("apt-get install {} (about 1 minute)", packages.join(" ")));
    let log = workspace::cache_dir()?.join("logs/browsers.log");
    let by_hand = |packages: &[&str]| {
        let names = packages.join(" ");
        let variables = PROGRAMS.map(|program| program.variable).join(", ");
        format!(
            "install {names} by hand, on PATH or with their paths in {variables}, or run \
             `npm test -- --portable`, which needs Chromium only"
        )
    };
    let debian = Debian::detect().with_context(|| by_hand(packages))?;
    debian.update(&log);
    let (mut failed, mut last) = (Vec::new(), Ok(()));
    for package in packages {
        if let Err(problem) = debian.install(&[package], &log) {
            failed.push(*package);
            last = Err(problem);
        }
    }
    last.with_context(|| by_hand(&failed))
}

#[test]
fn without_firefox_ubuntu_needs_the_users_help() {
    for (is_installed, is_ubuntu) in [(true, true), (true, false), (false, false)] {
        assert_firefox(is_installed, is_ubuntu).expect("Debian packages it");
    }
    let error = assert_firefox(false, true).expect_err("no package").to_string();
    assert!(error.contains("FIREFOX_PATH; `npm test -- --portable`"), "{error}");
}
