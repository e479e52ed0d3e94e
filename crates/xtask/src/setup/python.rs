//! Python, for the test of the wheel.

use anyhow::{Context, Result};

use super::debian;
use crate::process;

/// Debian's packages. The second one contains the module `ensurepip`.
const PACKAGES: [&str; 2] = ["python3", "python3-venv"];

/// Installs Python if `python3` is missing or cannot create virtual environments.
pub(crate) fn python() -> Result<()> {
    if has_python() {
        return Ok(());
    }
    debian::install(&PACKAGES, "20 seconds", "python")
        .context("install Python 3 with venv and ensurepip by hand: a test builds the wheel")
}

/// Whether `python3` can create virtual environments. The test of the wheel imports the same modules.
pub(crate) fn has_python() -> bool {
    let mut python = process::command("python3");
    let output = python.args(["-c", "import venv, ensurepip"]).output();
    output.is_ok_and(|output| output.status.success())
}
