//! The native libraries.

use std::fs;
use std::path::{Path, PathBuf};
use std::slice;

use anyhow::{Context, Result, bail, ensure};

use super::{Built, Shared, folder_of};
use crate::{build, process, workspace};

const PACKAGE: &str = "randomx-capi";

/// The prefix of exported names.
const EXPORTED: &str = "randomx_";

/// Builds the shared and the static library.
pub(super) fn build(profile: &str) -> Result<Built> {
    if cfg!(windows) {
        bail!(
            "the C library can be installed on Linux, macOS and other Unix systems, not on Windows"
        );
    }
    let mut cargo = process::command("cargo");
    cargo.args(["build", "--locked", "--package", PACKAGE, "--lib", "--profile", profile]);
    let built = folder(profile);
    build::cargo(&mut cargo, slice::from_ref(&archive(&built)))?;
    ensure!(
        !cfg!(target_os = "linux") || shared(&built).is_file(),
        "Rust's compiler built no shared library; one for musl needs RUSTFLAGS=\"-C target-feature=-crt-static\""
    );
    files(&built)
}

/// Returns the libraries that `cargo test` has built.
pub(super) fn tested(profile: &str) -> Result<Built> {
    // Cargo leaves what only tests use in this folder.
    files(&folder(profile).join("deps"))
}

fn files(built: &Path) -> Result<Built> {
    if !cfg!(target_os = "linux") {
        return Ok(Built { archive: archive(built), shared: None, private_libraries: "" });
    }
    let file = shared(built);
    let archive = one_object(&archive(built), &file, &built.join("capi"))?;
    let soname = soname(&file)?;
    let shared = Some(Shared { file, soname });
    Ok(Built { archive, shared, private_libraries: "-lpthread -lm -lc" })
}

fn folder(profile: &str) -> PathBuf {
    workspace::target_dir().join(folder_of(profile))
}

/// Returns the static library that Cargo builds in a folder.
fn archive(built: &Path) -> PathBuf {
    built.join("librandomx.a")
}

/// Returns the shared library that Cargo builds in a folder on Linux.
fn shared(built: &Path) -> PathBuf {
    built.join("librandomx.so")
}

/// Links the archive into one object that exports only the library's own functions. So a program
/// can link it even if it contains Rust already, or functions that are named like those of Rust's
/// run-time library.
fn one_object(archive: &Path, shared: &Path, work: &Path) -> Result<PathBuf> {
    fs::create_dir_all(work).with_context(|| format!("cannot create {}", work.display()))?;
    let linked = work.join("linked.o");
    let object = work.join("randomx.o");
    let result = work.join("librandomx.a");

    let mut ld = process::command("ld");
    // The linker would merge groups with those of other archives, but their symbols are hidden.
    ld.args(["--relocatable", "--force-group-allocation"]);
    for name in exported(shared)? {
        ld.arg(format!("--undefined={name}"));
    }
    process::run(ld.arg("--output").arg(&linked).arg(archive))?;

    let mut objcopy = process::command("objcopy");
    // Tools with a plug-in for bitcode would try to read these sections.
    objcopy.args(["--strip-debug", "--remove-section=.llvmbc", "--remove-section=.llvmcmd"]);
    objcopy.args(["--wildcard", &format!("--keep-global-symbol={EXPORTED}*")]);
    process::run(objcopy.arg(&linked).arg(&object))?;

    process::remove_file(&result)?;
    process::run(process::command("ar").arg("crsD").arg(&result).arg(&object))?;
    Ok(result)
}

/// Returns the name under which the dynamic linker looks for a shared library.
fn soname(shared: &Path) -> Result<String> {
    let mut objdump = process::command("objdump");
    let headers = process::read(objdump.arg("--private-headers").arg(shared))?;
    let name = headers.lines().find_map(|line| line.trim_start().strip_prefix("SONAME"));
    let name = name.with_context(|| format!("{} has no soname", shared.display()))?;
    Ok(name.trim().to_owned())
}

/// Returns the functions that the shared library exports.
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
