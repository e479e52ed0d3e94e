//! Archives of npm packages.

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::{process, setup};

/// Packs the npm package in a folder into the folder `output`. Returns the archive.
pub(super) fn pack(package: &Path, output: &Path) -> Result<PathBuf> {
    let mut pack = setup::npm()?;
    pack.arg("pack").arg(package).args(["--silent", "--pack-destination"]);
    Ok(output.join(process::read(pack.arg(output))?.trim()))
}
