//! cargo-deny, which checks the licences, sources and known vulnerabilities of dependencies.

use std::path::PathBuf;

use anyhow::Result;

use super::crates_io;
use crate::{versions, workspace};

/// Installs cargo-deny if it is missing, and returns its path.
pub(crate) fn cargo_deny() -> Result<PathBuf> {
    let cache = workspace::cache_dir()?;
    let folder = crates_io::install(&cache, "cargo-deny", "cargo-deny", versions::CARGO_DENY, &[])?;
    Ok(folder.join("cargo-deny"))
}
