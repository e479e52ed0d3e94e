//! dieharder, a suite of statistical tests for the laboratory's random number generators.

use anyhow::{Context, Result};

use super::debian;
use crate::process;

/// Installs dieharder if it is missing.
pub(crate) fn dieharder() -> Result<()> {
    if process::find("dieharder").is_some() {
        return Ok(());
    }
    debian::install(&["dieharder"], "20 seconds", "dieharder")
        .context("install dieharder by hand: it tests the random numbers of the laboratory")
}
