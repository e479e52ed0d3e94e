//! Archives that are tried: they are found and unpacked.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::compare;
use crate::process;
use crate::setup::Node;

/// Returns the archive in a folder whose name contains `part`.
pub(super) fn find(archives: &Path, part: &str) -> Result<PathBuf> {
    let names = compare::files(archives)?;
    let found = names.iter().find(|name| name.to_string_lossy().contains(part));
    let name = found.with_context(|| format!("no archive was built whose name has {part}"))?;
    Ok(archives.join(name))
}

/// Unpacks an archive into an empty folder and checks its list of hashes. Returns the folder inside.
pub(super) fn unpack(archive: &Path, folder: &Path) -> Result<PathBuf> {
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let mut unpack = Node::Installed.run("crates/xtask/scripts/unpack.mjs")?;
    let inner = process::read(unpack.arg(archive).arg(folder))?;
    Ok(folder.join(inner.trim()))
}
