//! CMake and a C++ compiler: tests build the reference implementation to compare with it.

use anyhow::{Context, Result};

use super::announce;
use super::debian::Debian;
use crate::{process, workspace};

/// Programs, and the Debian packages that bring them.
const TOOLS: [(&str, &str); 2] = [("cmake", "cmake"), ("c++", "build-essential")];

/// Installs the tools that are not there.
pub(crate) fn cpp_tools() -> Result<()> {
    let missing: Vec<&str> = TOOLS
        .into_iter()
        .filter(|(program, _)| process::find(program).is_none())
        .map(|(_, package)| package)
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    announce(&format!("apt-get install {} (about 1 minute)", missing.join(" ")));
    let log = workspace::cache_dir()?.join("logs/cpp.log");
    Debian::detect()
        .and_then(|debian| debian.update(&log).and_then(|()| debian.install(&missing, &log)))
        .context("install CMake and a C++ compiler by hand: tests build the reference with them")
}
