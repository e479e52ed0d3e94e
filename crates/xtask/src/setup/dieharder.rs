//! dieharder, a suite of statistical tests for the laboratory's random number generators.

use anyhow::{Context, Result};

use super::announce;
use super::debian::Debian;
use crate::{process, workspace};

/// Installs dieharder if it is missing.
pub(crate) fn dieharder() -> Result<()> {
    if process::find("dieharder").is_some() {
        return Ok(());
    }
    announce("apt-get install dieharder (about 20 seconds)");
    let log = workspace::cache_dir()?.join("logs/dieharder.log");
    Debian::detect()
        .and_then(|debian| {
            debian.update(&log);
            debian.install(&["dieharder"], &log)
        })
        .context("install dieharder by hand: it tests the random numbers of the laboratory")
}
