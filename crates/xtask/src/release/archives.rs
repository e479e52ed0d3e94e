//! The archives: the npm packages, and the programs with their documents.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::compare;
use super::programs::{self, Builder};
use crate::setup::{self, Node};
use crate::{addon, build, process, remap, workspace};

/// Builds the archives into a folder, and fails if one contains a path of this machine.
pub(super) fn build(output: &Path) -> Result<()> {
    fs::create_dir_all(output).with_context(|| format!("cannot create {}", output.display()))?;
    let private = private_paths()?;

    build::package(&setup::wasm_tools()?)?;
    compare::contains_none(&workspace::root().join("wasm/dist"), &private)?;
    let staged = workspace::target_dir().join("npm-package");
    process::run(Node::Installed.run("crates/xtask/scripts/stage.mjs")?.arg(&staged))?;
    pack(&staged, output)?;

    if addon::is_possible() {
        let addon = addon::package()?;
        compare::contains_none(&addon, &private)?;
        pack(&addon, output)?;
    }

    let commit = env::var(programs::TIME).context("SOURCE_DATE_EPOCH is not set")?;
    programs::pack(&Builder::native()?, &commit, output, &private)?;
    Ok(())
}

/// Copies archives to the folder for them, with a list of their hashes.
pub(crate) fn publish(archives: &Path, output: &Path) -> Result<()> {
    let mut sums = Node::Installed.run("crates/xtask/scripts/checksums.mjs")?;
    process::run(sums.arg(archives).args(compare::files(archives)?))?;
    fs::create_dir_all(output).with_context(|| format!("cannot create {}", output.display()))?;
    for file in compare::files(archives)? {
        fs::copy(archives.join(&file), output.join(&file))
            .with_context(|| format!("cannot write {}", output.join(&file).display()))?;
    }
    Ok(())
}

fn pack(folder: &Path, output: &Path) -> Result<()> {
    let mut pack = setup::npm()?;
    pack.arg("pack").arg(folder).args(["--silent", "--pack-destination"]);
    process::run(pack.arg(output))
}

/// Returns folders of this machine that no archive may name.
pub(crate) fn private_paths() -> Result<Vec<PathBuf>> {
    let mut paths = vec![workspace::root(), workspace::target_dir(), remap::cargo_home()?];
    paths.push(workspace::cache_dir()?);
    // A home folder such as `/` is part of every path.
    paths.extend(env::home_dir().filter(|home| home.components().count() > 1));
    Ok(paths)
}
