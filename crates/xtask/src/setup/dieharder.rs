//! dieharder, the tests of random numbers that the laboratory's generators are held to.

use anyhow::{Context, Result};

use super::announce;
use super::debian::Debian;
use crate::{process, workspace};

/// Installs dieharder if it is not there.
pub(crate) fn dieharder() -> Result<()> {
    if process::find("dieharder").is_some() {
        return Ok(());
    }
    announce("apt-get install dieharder (about 20 seconds)");
    let log = workspace::cache_dir()?.join("logs/dieharder.log");
    Debian::detect()
        .and_then(|debian| debian.update(&log).and_then(|()| debian.install(&["dieharder"], &log)))
        .context("install dieharder by hand: random numbers of the laboratory are tested with it")
}
