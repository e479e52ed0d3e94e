//! The native libraries.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::Built;
use crate::{process, workspace};

const PACKAGE: &str = "randomx-capi";

/// What is exported, in the way of `nm`, `ld` and `objcopy`.
const EXPORTED: &str = "randomx_";

/// Builds the shared and the static library.
pub(super) fn build(profile: &str) -> Result<Built> {
    let mut cargo = process::command("cargo");
    process::run(cargo.args(["build", "--package", PACKAGE, "--lib", "--profile", profile]))?;
    let built = folder(profile);
    if !cfg!(target_os = "linux") {
        let archive = built.join("librandomx.a");
        return Ok(Built { archive, shared: None, private_libraries: "" });
    }
    let shared = built.join("librandomx.so");
    let archive = one_object(&built.join("librandomx.a"), &shared, &built.join("capi"))?;
    Ok(Built { archive, shared: Some(shared), private_libraries: "-lgcc_s -lpthread -lm -lc" })
}

fn folder(profile: &str) -> PathBuf {
    workspace::target_dir().join(if profile == "dev" { "debug" } else { profile })
}

/// Links what the library needs of the archive into one object, in which only the library's own
/// functions have names for others: a program that has Rust in it already, or functions with
/// the names of Rust's run-time library, can link it too.
fn one_object(archive: &Path, shared: &Path, work: &Path) -> Result<PathBuf> {
    fs::create_dir_all(work).with_context(|| format!("cannot create {}", work.display()))?;
    let linked = work.join("linked.o");
    let object = work.join("randomx.o");
    let result = work.join("librandomx.a");

    let mut ld = process::command("ld");
    // Groups would be merged with those of other archives, to whose symbols there are no names.
    ld.args(["--relocatable", "--force-group-allocation"]);
    for name in exported(shared)? {
        ld.arg(format!("--undefined={name}"));
    }
    process::run(ld.arg("--output").arg(&linked).arg(archive))?;

    let mut objcopy = process::command("objcopy");
    // The sections are bitcode, which tools with a plug-in for it try to read.
    objcopy.args(["--strip-debug", "--remove-section=.llvmbc", "--remove-section=.llvmcmd"]);
    objcopy.args(["--wildcard", &format!("--keep-global-symbol={EXPORTED}*")]);
    process::run(objcopy.arg(&linked).arg(&object))?;

    if result.exists() {
        fs::remove_file(&result).with_context(|| format!("cannot replace {}", result.display()))?;
    }
    process::run(process::command("ar").arg("crsD").arg(&result).arg(&object))?;
    Ok(result)
}

/// The functions that the shared library exports.
fn exported(shared: &Path) -> Result<Vec<String>> {
    let mut nm = process::command("nm");
    let listed = process::read(nm.args(["--dynamic", "--defined-only"]).arg(shared))?;
    let names: Vec<String> = listed
        .lines()
        .filter_map(|line| line.split_whitespace().nth(2).map(str::to_owned))
        .collect();
    if names.is_empty() {
        bail!("{} exports nothing", shared.display());
    }
    Ok(names)
}
