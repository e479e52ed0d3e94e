//! A Chromium for the browser tests.

use std::env;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use super::debian::Debian;
use super::npm::Node;
use super::{announce, fallback_is_forced};
use crate::{process, workspace};

/// The test runner, which can also install browsers.
pub(super) const PLAYWRIGHT: &str = "node_modules/@playwright/test/cli.js";

/// The names of a system's Chromium, best first.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// The browser that Playwright is to start.
pub(super) enum Chromium {
    /// One that is installed on the system.
    System(PathBuf),
    /// The one that Playwright downloaded.
    Playwrights,
}

/// Installs a Chromium unless there is one.
pub(super) fn chromium() -> Result<Chromium> {
    if let Some(chosen) = env::var_os("CHROMIUM_PATH").map(PathBuf::from) {
        if !chosen.is_file() {
            bail!("CHROMIUM_PATH: there is no file {}", chosen.display());
        }
        return Ok(Chromium::System(chosen));
    }
    if let Some(found) = NAMES.iter().find_map(|name| process::find(name)) {
        return Ok(Chromium::System(found));
    }
    let logs = workspace::cache_dir()?.join("logs");
    if !fallback_is_forced() {
        announce("playwright install chromium (about 1 minute; nothing where it is there)");
        let mut install = Node::Installed.run(PLAYWRIGHT)?;
        let log = logs.join("playwright.log");
        if process::run_logged(install.args(["install", "chromium"]), &log).is_ok() {
            return Ok(Chromium::Playwrights);
        }
    }
    announce("apt-get install chromium (about 1 minute)");
    let log = logs.join("chromium.log");
    let installed = Debian::detect()
        .and_then(|debian| debian.update(&log).and_then(|()| debian.install(&["chromium"], &log)));
    installed.context("no Chromium: install one by hand and set CHROMIUM_PATH to it")?;
    let found = process::find("chromium").context("the package chromium brought no `chromium`")?;
    Ok(Chromium::System(found))
}
