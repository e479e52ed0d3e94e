//! The native add-on of the npm package.

use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::slice;

use anyhow::{Context, Result, ensure};

use crate::builder::Builder;
use crate::replace::replace;
use crate::setup::{self, Held, Node};
use crate::{build, output, process, workspace};

const PACKAGE: &str = "randomx-node";

/// The name of lists of hashes, which `crates/xtask/scripts/sums.mjs` writes.
pub(crate) const SUMS: &str = "SHA256SUMS";

/// Whether this system has a package for its add-on. Prints a notice if it has none.
pub(crate) fn is_possible() -> Result<bool> {
    Ok(is_possible_for(&build::host()?))
}

/// Whether a target has a package for its add-on. Prints a notice if it has none.
pub(crate) fn is_possible_for(target: &str) -> bool {
    let folder = folder(target);
    if let Err(error) = &folder {
        output::line(format_args!("SKIPPED the native add-on: {error}"));
    }
    folder.is_ok()
}

/// Builds the add-on of this system's package. Returns the package's folder.
pub(crate) fn package() -> Result<PathBuf> {
    package_for(&Builder::native()?, None, |folder| Ok(folder.to_owned()))
}

/// Builds the add-on of a target's package as it is published, without this machine's paths, and writes the package's
/// documents. `commit` is as in [`Builder::cargo`]. Returns what `then` makes of the package's folder, which no other run
/// changes meanwhile.
pub(crate) fn package_for<T>(
    builder: &Builder,
    commit: Option<&str>,
    then: impl FnOnce(&Path) -> Result<T>,
) -> Result<T> {
    let folder = folder(builder.target())?;
    let mut cargo = builder.cargo(commit)?;
    cargo.envs(stand_in_for_node(builder.target(), builder.c_compiler())?);
    let library = builder.folder().join(file_name(builder.target()));
    build::cargo(cargo.args(["--package", PACKAGE]), slice::from_ref(&library))?;
    alone(|held| {
        place(&library, &folder)?;
        let mut documents = Node::Installed.run("crates/xtask/scripts/addon.mjs")?;
        documents.arg(&folder).args([builder.target(), &builder.compiler()?]);
        process::run(documents.stdin(held.stdin()?))?;
        output::line(format_args!("the package is in {}", folder.display()));
        then(&folder)
    })
}

/// The variable with the folder in which the crate `napi` looks for `libnode.dll` when it builds for MinGW.
const LIBNODE_PATH: &str = "LIBNODE_PATH";

/// Returns that variable if the target needs it, with a folder for an empty `libnode.dll`. With the crate's feature
/// `dyn-symbols`, add-ons find Node's functions at run time, in the program that loads them, and link none of that library.
pub(crate) fn stand_in_for_node(
    target: &str,
    mut compiler: Command,
) -> Result<Option<(&'static str, PathBuf)>> {
    if !target.ends_with("-windows-gnu") {
        return Ok(None);
    }
    let folder = workspace::target_dir().join("libnode");
    fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let source = folder.join("empty.c");
    fs::write(&source, "").with_context(|| format!("cannot write {}", source.display()))?;
    compiler.args(["-shared", "-o"]).arg(folder.join("libnode.dll")).arg(&source);
    process::run(&mut compiler)?;
    Ok(Some((LIBNODE_PATH, folder)))
}

/// Puts the add-on that was built with the Rust tests into this system's package, if there is one.
pub(crate) fn place_tested(profile: &str) -> Result<()> {
    if !is_possible()? {
        return Ok(());
    }
    let folder = folder(&build::host()?)?;
    alone(|_| place(&tested_library(profile), &folder))
}

/// Changes the package while no other run does. Otherwise `SHA256SUMS` could list the hash of a test's add-on.
fn alone<T>(change: impl FnOnce(&Held) -> Result<T>) -> Result<T> {
    setup::alone(&workspace::clone_lock_dir(), "addon", change)
}

/// Returns the add-on that Cargo builds with the Rust tests in a profile. They are for this system.
pub(crate) fn tested_library(profile: &str) -> PathBuf {
    let name = format!("{DLL_PREFIX}randomx_node{DLL_SUFFIX}");
    // Cargo leaves what only tests use in this folder.
    workspace::target_dir().join(profile).join("deps").join(name)
}

/// The name of the file that Cargo builds for a target.
fn file_name(target: &str) -> &'static str {
    if target.contains("-windows-") {
        "randomx_node.dll"
    } else if target.contains("-apple-") {
        "librandomx_node.dylib"
    } else {
        "librandomx_node.so"
    }
}

/// Puts an add-on into the folder of its package.
fn place(library: &Path, folder: &Path) -> Result<()> {
    let to = folder.join("randomx.node");
    // Those of a published add-on do not fit that of the tests.
    process::remove_file(&to.with_file_name(SUMS))?;
    replace(&to, |fresh| fs::copy(library, fresh).map(drop))
        .with_context(|| format!("cannot copy {}", library.display()))
}

/// Returns the folder of a target's package.
fn folder(target: &str) -> Result<PathBuf> {
    let system = system(target);
    let folder = workspace::root().join("crates/node/npm").join(&system);
    ensure!(folder.is_dir(), "there is no package for the add-on on {system}");
    Ok(folder)
}

/// Returns how the name of a target's package ends: Node's names of the system and its processor and, on Linux, the C library.
pub(crate) fn system(target: &str) -> String {
    let parts: Vec<&str> = target.split('-').collect();
    let cpu = match parts[0] {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        "i686" => "ia32",
        other => other,
    };
    let os = match parts[..] {
        [_, "apple", "darwin"] => "darwin",
        // Both C libraries are part of Windows.
        [_, _, "windows", _] => "win32",
        [_, _, os, c_library] => return format!("{os}-{cpu}-{c_library}"),
        _ => return target.to_owned(),
    };
    format!("{os}-{cpu}")
}

#[cfg(test)]
mod tests {
    use std::env;

    use super::*;
    use crate::setup::Waiting;

    #[test]
    fn systems_have_the_names_of_their_packages() {
        assert_eq!(system("x86_64-unknown-linux-gnu"), "linux-x64-gnu");
        assert_eq!(system("x86_64-unknown-linux-musl"), "linux-x64-musl");
        assert_eq!(system("aarch64-unknown-linux-gnu"), "linux-arm64-gnu");
        assert_eq!(system("aarch64-apple-darwin"), "darwin-arm64");
        assert_eq!(system("x86_64-apple-darwin"), "darwin-x64");
        for target in ["x86_64-pc-windows-gnu", "x86_64-pc-windows-msvc"] {
            assert_eq!(system(target), "win32-x64");
            assert!(folder(target).expect("a package").ends_with("crates/node/npm/win32-x64"));
        }
        folder("s390x-unknown-linux-gnu").expect_err("no package");
    }

    #[test]
    fn a_tests_addon_waits_for_the_hashes_of_a_published_one() {
        /// Set where the test runs again, in a clone without sources.
        const IS_OTHER: &str = "RANDOMX_XTASK_TEST_IS_OTHER";

        if env::var_os(IS_OTHER).is_some() {
            return place_tested("checked").expect("an add-on");
        }
        let clone = tempfile::tempdir().expect("a folder");
        let host = build::host().expect("a target");
        let package = clone.path().join("crates/node/npm").join(system(&host));
        let target = clone.path().join("target");
        let built = target.join("checked/deps").join(file_name(&host));
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
