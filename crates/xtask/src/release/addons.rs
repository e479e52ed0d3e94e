//! An archive of the native add-on's npm package for one target.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::packing::Packing;
use super::{compare, npm};
use crate::builder::Builder;
use crate::foreign_smoke::HASHES;
use crate::setup::Node;
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
    let start = format!("randomx-web-{}-", addon::system(builder.target()));
    let names = compare::files(archives)?;
    let is_ours = |name: &&PathBuf| name.to_string_lossy().starts_with(&start);
    let name = names.iter().find(is_ours).context("no archive of the add-on was built")?;
    check(&builder, &archives.join(name), unpacked)
}

/// Unpacks an archive into an empty folder, checks its list of hashes, and hashes with the add-on in a Node.js for the
/// target.
pub(crate) fn check(builder: &Builder, archive: &Path, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let mut unpack = Node::Installed.run("crates/xtask/scripts/unpack.mjs")?;
    let inner = process::read(unpack.arg(archive).arg(folder))?;
    let mut node = builder.node()?;
    node.arg(workspace::root().join(TRY)).arg(folder.join(inner.trim())).args(HASHES);
    process::run(&mut node)
}
