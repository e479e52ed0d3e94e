//! The archives: the npm packages, and the program `randomx` with its documents.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::compare;
use crate::setup::{self, Node};
use crate::{addon, build, process, remap, workspace};

/// Builds the archives into a folder, and fails if one contains a path of this machine.
pub(super) fn build(output: &Path) -> Result<()> {
    fs::create_dir_all(output).with_context(|| format!("cannot create {}", output.display()))?;
    let private = private_paths()?;

    build::package(&setup::wasm_tools()?)?;
    compare::contains_none(&workspace::root().join("wasm/dist"), &private)?;
    pack(&workspace::root().join("wasm"), output)?;

    if addon::is_possible() {
        let addon = addon::package()?;
        compare::contains_none(&addon, &private)?;
        pack(&addon, output)?;
    }

    let program = native()?;
    compare::contains_none(&program, &private)?;
    let mut pack = Node::Installed.run("crates/xtask/scripts/program.mjs")?;
    process::run(pack.arg(program).arg(build::host()?).arg(output))
}

fn pack(folder: &Path, output: &Path) -> Result<()> {
    let mut pack = setup::npm()?;
    pack.arg("pack").arg(folder).args(["--silent", "--pack-destination"]);
    process::run(pack.arg(output))
}

/// Builds the program `randomx` without symbols and without this machine's paths.
fn native() -> Result<PathBuf> {
    let mut cargo = process::command("cargo");
    cargo.args(["build", "--release", "--locked", "--package", "randomx-cli"]);
    process::run(build::published(&mut cargo)?)?;
    Ok(build::native_path("release"))
}

/// Returns folders of this machine that no archive may name.
fn private_paths() -> Result<Vec<PathBuf>> {
    let mut paths = vec![workspace::root(), workspace::target_dir(), remap::cargo_home()?];
    paths.push(workspace::cache_dir()?);
    // A home folder such as `/` is part of every path.
    paths.extend(std::env::home_dir().filter(|home| home.components().count() > 1));
    Ok(paths)
}
