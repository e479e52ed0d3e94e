//! Monero's daemon, a real node for the tests of clients.

use std::path::PathBuf;

use anyhow::{Context, Result};

use super::{chosen, debian};
use crate::process;

/// The variable with the daemon's path for the tests. The user may set it.
pub(crate) const MONEROD_PATH: &str = "MONEROD_PATH";

/// Finds or installs Monero's daemon, and returns its path.
pub(crate) fn monerod() -> Result<PathBuf> {
    if let Some(found) = chosen(MONEROD_PATH)?.or_else(|| process::find("monerod")) {
        return Ok(found);
    }
    debian::install(&["monero"], "20 seconds", "monero").with_context(|| {
        format!("install Monero's daemon by hand, on PATH or with its path in {MONEROD_PATH}")
    })?;
    process::find("monerod").context("the package monero contains no monerod")
}
