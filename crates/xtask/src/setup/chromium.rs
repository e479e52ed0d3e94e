//! Chromium for the browser tests.

use std::path::PathBuf;

use anyhow::{Context, Result};

use super::npm::Node;
use super::{announce, chosen, debian, fallback_is_forced, snap};
use crate::{process, workspace};

/// The script of Playwright, which runs tests and installs browsers.
pub(super) const PLAYWRIGHT: &str = "node_modules/@playwright/test/cli.js";

/// The names of Chromium on systems that have it, best first.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// The browser that Playwright starts.
pub(super) enum Chromium {
    /// A browser of the system.
    System(PathBuf),
    /// The browser that Playwright downloaded.
    Playwrights,
}

/// Finds or installs Chromium.
pub(super) fn chromium() -> Result<Chromium> {
    if let Some(chosen) = chosen("CHROMIUM_PATH")? {
        return Ok(Chromium::System(chosen));
    }
    if let Some(found) = snap::find_other(&NAMES) {
        return Ok(Chromium::System(found));
    }
    if !fallback_is_forced() {
        announce("playwright install chromium (about 1 minute, if it is missing)");
        let mut install = Node::Installed.run(PLAYWRIGHT)?;
        let mut start = Node::Installed.run("crates/xtask/scripts/starts.mjs")?;
        let logs = workspace::cache_dir()?.join("logs");
        let logs = ["playwright.log", "chromium-start.log"].map(|name| logs.join(name));
        // It does not start where libraries of the system are missing.
        let starts = process::run_logged(install.args(["install", "chromium"]), &logs[0])
            .and_then(|()| process::run_logged(&mut start, &logs[1]));
        if starts.is_ok() {
            return Ok(Chromium::Playwrights);
        }
    }
    debian::install(&["chromium"], "1 minute", "chromium")
        .context("install Chromium by hand and set CHROMIUM_PATH to it")?;
    let found = snap::find_other(&["chromium"]).context(
        "the package chromium contains no `chromium`, or only a snap's: install Chromium by hand and set CHROMIUM_PATH \
         to it",
    )?;
    Ok(Chromium::System(found))
}
