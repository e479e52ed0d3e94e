//! An archive of the native add-on's npm package for one target.

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::packing::Packing;
use super::unpack::{find, unpack};
use super::{compare, npm};
use crate::builder::Builder;
use crate::foreign_smoke::HASHES;
use crate::{addon, process, workspace};

/// The script that hashes with an add-on.
const TRY: &str = "crates/xtask/scripts/try_addon.mjs";

/// Builds the add-on and packs its package. Returns the archive.
pub(crate) fn pack(builder: &Builder, packing: &Packing<'_>) -> Result<PathBuf> {
    addon::package_for(builder, Some(packing.commit), |package| {
        compare::contains_none(package, packing.private)?;
        npm::pack(package, packing.output)
    })
}

/// Unpacks this system's archive, one of those in the folder `archives`, and checks it as [`check`] does. A system without
/// a package has none.
pub(super) fn check_native(archives: &Path, unpacked: &Path) -> Result<()> {
    let builder = Builder::native()?;
    if !addon::is_possible_for(builder.target()) {
        return Ok(());
    }
    let archive = find(archives, &format!("randomx-web-{}-", addon::system(builder.target())))?;
    check(&builder, &archive, unpacked)
}

/// Unpacks an archive into an empty folder, checks its list of hashes, and hashes with the add-on in a Node.js for the
/// target.
pub(crate) fn check(builder: &Builder, archive: &Path, folder: &Path) -> Result<()> {
    let package = unpack(archive, folder)?;
    let mut node = builder.node()?;
    node.arg(workspace::root().join(TRY)).arg(package).args(HASHES);
    process::run(&mut node)
}
