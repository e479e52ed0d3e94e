//! `cargo xtask release`: builds the archives of a release twice and compares them.
//!
//! The npm packages and the programs are built from the last commit, in two folders whose paths
//! differ in length. The archives must be equal, bit for bit, and contain no path of this machine.

pub(crate) mod archives;
mod compare;
pub(crate) mod programs;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::setup::{self, WasmTools};
use crate::{output, process, versions, workspace};

/// Options of `cargo xtask release`.
#[derive(Args)]
pub(crate) struct ReleaseArgs {
    /// The folder for the archives; it is created if it does not exist.
    #[arg(long, value_name = "DIR", default_value = "target/release-archives")]
    output: PathBuf,

    /// Build uncommitted changes too; such archives are not for others.
    #[arg(long)]
    dirty: bool,

    /// Build once, here, and compare nothing. The command runs itself with this option.
    #[arg(long, hide = true)]
    once: bool,
}

/// Builds, compares and writes the archives.
pub(crate) fn release(args: &ReleaseArgs) -> Result<()> {
    build_twice(args, &[])
}

/// Builds archives without optimisation, and compares them. Only releases have to be fast, and each of them is
/// built twice before it is published.
pub(crate) fn test() -> Result<()> {
    let output = workspace::target_dir().join("release-archives");
    let unoptimised =
        [("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0"), ("CARGO_PROFILE_RELEASE_LTO", "off")];
    build_twice(&ReleaseArgs { output, dirty: true, once: false }, &unoptimised)
}

/// Builds with the variables `settings` set.
fn build_twice(args: &ReleaseArgs, settings: &[(&str, &str)]) -> Result<()> {
    let output = workspace::root().join(&args.output);
    if args.once {
        return archives::build(&output);
    }
    let commit = last_commit(args.dirty)?;
    setup::packages()?;
    note_compilers(&setup::wasm_tools()?)?;

    let builds = workspace::target_dir().join("release-builds");
    process::remove_dir(&builds)?;
    let folders = ["first", "second-and-longer"].map(|name| builds.join(name));
    for folder in &folders {
        output::line(format_args!("release: building in {}", folder.display()));
        check_out(folder)?;
        build_in(folder, &commit, settings)?;
    }
    let [first, second] = folders.map(|folder| folder.join(ARCHIVES));
    compare::equal(&first, &second)?;

    archives::publish(&first, &output)?;
    // Each folder holds a build of about 1 GiB.
    process::remove_dir(&builds)?;
    output::line(format_args!(
        "release: two equal builds; the archives are in {}",
        output.display()
    ));
    Ok(())
}

/// Where each build writes its archives, below its own root.
const ARCHIVES: &str = "target/archives";

/// The last commit's time in seconds since 1970. Fails if files differ from it, unless they may.
pub(crate) fn last_commit(dirty: bool) -> Result<String> {
    let changed = process::read(process::command("git").args(["status", "--porcelain"]))?;
    if !changed.is_empty() && !dirty {
        bail!("a release is built from a commit, but these files differ:\n{changed}");
    }
    let time = process::read(process::command("git").args(["log", "-1", "--format=%ct"]))?;
    Ok(time.trim().to_owned())
}

/// Says so if other compilers than that of releases are in use: archives of two compilers differ.
fn note_compilers(tools: &WasmTools) -> Result<()> {
    let release = versions::RELEASE_RUST;
    let native = process::read(process::command("rustc").arg("--version"))?;
    let [wasm, ..] = tools.versions()?;
    for (what, version) in [("the program", native.trim()), ("WebAssembly", &wasm)] {
        if version.split(' ').nth(1) != Some(release) {
            output::line(format_args!(
                "release: {what}: releases use rustc {release}, this machine has {version}"
            ));
        }
    }
    Ok(())
}

/// Copies the tracked files into a folder, with the installed npm packages beside them.
fn check_out(folder: &Path) -> Result<()> {
    let root = workspace::root();
    let listed = process::read(process::command("git").args(["ls-files", "-z"]))?;
    // A file that was removed but not yet committed is still listed.
    for file in listed.split_terminator('\0').filter(|file| root.join(file).is_file()) {
        let copy = folder.join(file);
        fs::create_dir_all(copy.parent().unwrap_or(folder))
            .and_then(|()| fs::copy(root.join(file), &copy))
            .with_context(|| format!("cannot write {}", copy.display()))?;
    }
    let to = folder.join("node_modules");
    link(&root.join("node_modules"), &to).with_context(|| format!("cannot link {}", to.display()))
}

#[cfg(unix)]
fn link(from: &Path, to: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(from, to)
}

#[cfg(windows)]
fn link(from: &Path, to: &Path) -> std::io::Result<()> {
    std::os::windows::fs::symlink_dir(from, to)
}

/// Runs this program for the repository in another folder.
fn build_in(folder: &Path, commit: &str, settings: &[(&str, &str)]) -> Result<()> {
    let itself = env::current_exe().context("this program's path is not known")?;
    let mut build = process::command(itself);
    build.current_dir(folder).args(["release", "--once", "--output", ARCHIVES]);
    build.envs(settings.iter().copied()).env("CARGO_MANIFEST_DIR", folder.join("crates/xtask"));
    build.env("CARGO_TARGET_DIR", folder.join("target"));
    process::run(build.env(programs::TIME, commit))
}
