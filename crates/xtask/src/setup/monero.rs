//! Monero's daemon, the real node that the clients are tested with.

use std::env;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use super::announce;
use super::debian::Debian;
use crate::{process, workspace};

/// Tells the tests where the daemon is; the user may set it.
pub(crate) const MONEROD_PATH: &str = "MONEROD_PATH";

/// Where Monero's daemon is. Installs it unless it is there.
pub(crate) fn monerod() -> Result<PathBuf> {
    if let Some(chosen) = env::var_os(MONEROD_PATH).map(PathBuf::from) {
        if !chosen.is_file() {
            bail!("{MONEROD_PATH}: there is no file {}", chosen.display());
        }
        return Ok(chosen);
    }
    if let Some(found) = process::find("monerod") {
        return Ok(found);
    }
    announce("apt-get install monero (about 20 seconds)");
    let log = workspace::cache_dir()?.join("logs/monero.log");
    Debian::detect()
        .and_then(|debian| debian.update(&log).and_then(|()| debian.install(&["monero"], &log)))
        .with_context(|| {
            format!("install Monero's daemon by hand; where it is not on PATH, set {MONEROD_PATH}")
        })?;
    process::find("monerod").context("the package monero brought no program")
}
