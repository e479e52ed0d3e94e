//! The archives: the npm package, and the program `randomx` with its documents.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::compare;
use crate::setup::{self, Node};
use crate::{build, process, remap, workspace};

/// Builds both archives into a folder, and fails if one contains a path of this machine.
pub(super) fn build(output: &Path) -> Result<()> {
    fs::create_dir_all(output).with_context(|| format!("cannot create {}", output.display()))?;
    let private = private_paths()?;

    build::package(&setup::wasm_tools()?)?;
    compare::contains_none(&workspace::root().join("wasm/dist"), &private)?;
    let mut pack = setup::npm()?;
    pack.args(["pack", "./wasm", "--silent", "--pack-destination"]);
    process::run(pack.arg(output))?;

    let program = native()?;
    compare::contains_none(&program, &private)?;
    let mut pack = Node::Installed.run("crates/xtask/scripts/program.mjs")?;
    process::run(pack.arg(program).arg(host()?).arg(output))
}

/// Builds the program `randomx` without symbols and without this machine's paths.
fn native() -> Result<PathBuf> {
    let sysroot = process::read(process::command("rustc").args(["--print", "sysroot"]))?;
    let flags = remap::flags(Path::new(sysroot.trim()))?;
    let mut cargo = process::command("cargo");
    cargo.args(["build", "--release", "--locked", "--package", "randomx-cli"]);
    cargo.args(["--config", "profile.release.strip='symbols'"]);
    process::run(cargo.env("CARGO_ENCODED_RUSTFLAGS", remap::encoded(&flags)))?;
    Ok(build::native_path("release"))
}

/// Returns the name of this machine's target, such as `x86_64-unknown-linux-gnu`.
fn host() -> Result<String> {
    let version = process::read(process::command("rustc").arg("-vV"))?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc names no host")?.to_owned())
}

/// Returns folders of this machine that no archive may name.
fn private_paths() -> Result<Vec<PathBuf>> {
    let mut paths = vec![workspace::root(), workspace::target_dir(), remap::cargo_home()?];
    paths.push(workspace::cache_dir()?);
    // A home folder such as `/` is part of every path.
    paths.extend(std::env::home_dir().filter(|home| home.components().count() > 1));
    Ok(paths)
}
