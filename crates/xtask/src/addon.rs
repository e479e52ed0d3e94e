//! The native add-on of the npm package.

use std::env::consts::{ARCH, DLL_PREFIX, DLL_SUFFIX, OS};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::replace::replace;
use crate::setup::{self, Held, Node};
use crate::{build, output, process, workspace};

const PACKAGE: &str = "randomx-node";

/// The name of lists of hashes, which `crates/xtask/scripts/sums.mjs` writes.
pub(crate) const SUMS: &str = "SHA256SUMS";

/// Whether this system has a package for its add-on. Prints a notice if it has none.
pub(crate) fn is_possible() -> bool {
    let possible = folder().is_ok();
    if !possible {
        output::line("SKIPPED the native add-on: this system has no package for it");
    }
    possible
}

/// Builds the add-on of this system's package as it is published, without this machine's paths, and
/// writes the package's documents. Returns its folder.
pub(crate) fn package() -> Result<PathBuf> {
    let folder = folder()?;
    let mut cargo = process::command("cargo");
    cargo.args(["build", "--locked", "--package", PACKAGE, "--release"]);
    let built = workspace::target_dir().join("release");
    build::cargo(build::published(&mut cargo)?, &[library(&built)])?;
    alone(|held| {
        place(&built)?;
        let mut documents = Node::Installed.run("crates/xtask/scripts/addon.mjs")?;
        process::run(documents.arg(&folder).arg(build::host()?).stdin(held.stdin()?))
    })?;
    output::line(format_args!("the package is in {}", folder.display()));
    Ok(folder)
}

/// Puts the add-on that was built with the Rust tests into this system's package, if there is one.
pub(crate) fn place_tested(profile: &str) -> Result<()> {
    if !is_possible() {
        return Ok(());
    }
    alone(|_| place(&tested(profile)))
}

/// Changes the package while no other run does. Otherwise `SHA256SUMS` could list the hash of a test's add-on.
fn alone(change: impl FnOnce(&Held) -> Result<()>) -> Result<()> {
    setup::alone(&workspace::clone_lock_dir(), "addon", change)
}

/// Returns the add-on that Cargo builds with the Rust tests in a profile.
pub(crate) fn tested_library(profile: &str) -> PathBuf {
    library(&tested(profile))
}

/// Returns the folder in which Cargo leaves what only tests use.
fn tested(profile: &str) -> PathBuf {
    workspace::target_dir().join(profile).join("deps")
}

/// Returns the file that Cargo builds in a folder.
fn library(built: &Path) -> PathBuf {
    built.join(format!("{DLL_PREFIX}randomx_node{DLL_SUFFIX}"))
}

fn place(built: &Path) -> Result<()> {
    let from = library(built);
    let to = folder()?.join("randomx.node");
    // Those of a published add-on do not fit that of the tests.
    process::remove_file(&to.with_file_name(SUMS))?;
    replace(&to, |fresh| fs::copy(&from, fresh).map(drop))
        .with_context(|| format!("cannot copy {}", from.display()))
}

/// Returns the folder of this system's package.
fn folder() -> Result<PathBuf> {
    let system = this_system();
    let folder = workspace::root().join("crates/node/npm").join(&system);
    ensure!(folder.is_dir(), "there is no package for the add-on on {system}");
    Ok(folder)
}

/// Returns the name of this system: Node's names of it and its processor and, on Linux, the C library.
fn this_system() -> String {
    let c_library = match OS {
        "linux" if cfg!(target_env = "musl") => Some("musl"),
        "linux" => Some("gnu"),
        _ => None,
    };
    name(OS, ARCH, c_library)
}

fn name(os: &str, arch: &str, c_library: Option<&str>) -> String {
    let os = match os {
        "macos" => "darwin",
        "windows" => "win32",
        other => other,
    };
    let cpu = match arch {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        "x86" => "ia32",
        other => other,
    };
    [os, cpu].into_iter().chain(c_library).collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use std::env;

    use super::*;
    use crate::setup::Waiting;

    #[test]
    fn systems_with_another_c_library_have_another_name() {
        assert_eq!(name("linux", "x86_64", Some("gnu")), "linux-x64-gnu");
        assert_eq!(name("linux", "x86_64", Some("musl")), "linux-x64-musl");
        assert_eq!(name("macos", "aarch64", None), "darwin-arm64");
        if cfg!(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu")) {
            assert!(folder().expect("a package").ends_with("crates/node/npm/linux-x64-gnu"));
        }
    }

    #[test]
    fn a_tests_addon_waits_for_the_hashes_of_a_published_one() {
        /// Set where the test runs again, in a clone without sources.
        const IS_OTHER: &str = "RANDOMX_XTASK_TEST_IS_OTHER";

        if env::var_os(IS_OTHER).is_some() {
            return place_tested("checked").expect("an add-on");
        }
        let clone = tempfile::tempdir().expect("a folder");
        let package = clone.path().join("crates/node/npm").join(this_system());
        let target = clone.path().join("target");
        let built = library(&target.join("checked/deps"));
        for file in [&built, &package.join(SUMS)] {
            fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
            fs::write(file, "").expect("a file");
        }
        let locks = workspace::clone_lock_dir();
        let locks = locks.strip_prefix(workspace::root()).expect("a folder of the clone");
        // As in a run that has placed an add-on, and has yet to write the hashes.
        let other = setup::alone(&clone.path().join(locks), "addon", |_| {
            let other = Waiting::start(
                "addon::tests::a_tests_addon_waits_for_the_hashes_of_a_published_one",
                &[
                    (IS_OTHER, Path::new("1")),
                    ("CARGO_TARGET_DIR", &target),
                    ("CARGO_MANIFEST_DIR", &clone.path().join("crates/xtask")),
                ],
            );
            assert!(package.join(SUMS).exists());
            Ok(other)
        });
        other.expect("another run").end();
        assert!(!package.join(SUMS).exists() && package.join("randomx.node").exists());
    }
}
