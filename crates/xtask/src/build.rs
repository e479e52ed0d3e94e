//! Builds the wasm crates, the package, the page and the program `randomx`.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::slice;

use anyhow::{Context, Result, bail};

use crate::setup::{self, Held, Node, WasmTools};
use crate::stamp::{Stamp, unless_fresh};
use crate::{output, process, remap, versions, workspace};

/// Sources of every wasm crate.
const SHARED: [&str; 5] =
    ["crates/randomx", "crates/monero", "Cargo.toml", "Cargo.lock", ".cargo/config.toml"];

/// A module that wasm-pack builds from a crate.
struct WasmCrate {
    /// The crate's folder.
    folder: &'static str,
    /// The folder that the module is written to.
    pkg: &'static str,
    /// The module's file name.
    name: &'static str,
    /// Its sources, besides [`SHARED`].
    sources: &'static [&'static str],
    /// Further options of Cargo.
    options: &'static [&'static str],
}

const HASHES: WasmCrate = WasmCrate {
    folder: "wasm",
    pkg: "wasm/pkg",
    name: "randomx_wasm",
    sources: &["wasm/Cargo.toml", "wasm/src"],
    options: &[],
};

/// Monero's rules, which a page loads to verify chains.
const MONERO: WasmCrate = WasmCrate {
    folder: "wasm/monero",
    pkg: "wasm/monero/pkg",
    name: "randomx_monero_wasm",
    sources: &MONERO_SOURCES,
    options: &[SMALL[0], SMALL[1], "--no-default-features", "--features=chain"],
};

/// The rules for one block, which a page loads to verify blocks.
const BLOCK: WasmCrate = WasmCrate {
    pkg: "wasm/block/pkg",
    name: "randomx_block_wasm",
    options: &[SMALL[0], SMALL[1], "--no-default-features", "--features=block"],
    ..MONERO
};

/// The light client, which a page loads to follow a chain.
const FOLLOW: WasmCrate = WasmCrate {
    pkg: "wasm/follow/pkg",
    name: "randomx_follow_wasm",
    options: &[SMALL[0], SMALL[1], "--no-default-features", "--features=follow"],
    ..MONERO
};

const MONERO_SOURCES: [&str; 2] = ["wasm/monero/Cargo.toml", "wasm/monero/src"];

/// Optimises for size: the rules take microseconds a block, and visitors download them.
const SMALL: [&str; 2] = [
    "--config=profile.release.package.randomx-monero.opt-level=\"z\"",
    "--config=profile.release.package.randomx-monero-wasm.opt-level=\"z\"",
];

/// For the page only.
const EXPLORE: WasmCrate = WasmCrate {
    folder: "wasm/explore",
    pkg: "wasm/explore/pkg",
    name: "randomx_explore_wasm",
    sources: &["wasm/explore/Cargo.toml", "wasm/explore/src", "crates/figures"],
    options: &[],
};

/// For tests only.
const CONFORMANCE: WasmCrate = WasmCrate {
    folder: "crates/conformance",
    pkg: "crates/conformance/pkg",
    name: "randomx_conformance",
    sources: &["crates/conformance", "tests/vectors"],
    options: &[],
};

/// Optimises across crates, which makes most modules smaller. It is for all, although Cargo ignores it for a crate that
/// is an `rlib` too: with another value, Cargo would build all macros again.
pub(crate) const ACROSS: &str = "--config=profile.release.lto=\"fat\"";

/// The variable that holds the page's address for Vite.
const PAGE_URL: &str = "PAGE_URL";

/// The script that adds a module's hash and the versions of its tools.
const HASH: &str = "crates/xtask/scripts/hash.mjs";

/// Every wasm crate.
const ALL: [WasmCrate; 6] = [HASHES, MONERO, BLOCK, FOLLOW, EXPLORE, CONFORMANCE];

/// Installs the tools of wasm builds, and builds the crates of the package and the page.
pub(crate) fn product_from_scratch() -> Result<()> {
    setup::packages()?;
    build(&setup::wasm_tools()?, &[HASHES, MONERO, BLOCK, FOLLOW, EXPLORE])
}

/// Installs the tools of wasm builds, and builds every wasm crate.
pub(crate) fn wasm_from_scratch() -> Result<()> {
    setup::packages()?;
    wasm(&setup::wasm_tools()?)
}

/// Installs the tools of the npm package's build, and builds it.
pub(crate) fn package_from_scratch() -> Result<()> {
    setup::packages()?;
    package(&setup::wasm_tools()?)
}

/// Builds the npm package into `wasm/dist`.
pub(crate) fn package(tools: &WasmTools) -> Result<()> {
    build(tools, &[HASHES, MONERO, BLOCK, FOLLOW])?;
    package_files()
}

/// Writes the files of the npm package into `wasm/dist`, with the wasm crates as they were built.
pub(crate) fn package_files() -> Result<()> {
    process::run(&mut Node::Installed.run("wasm/build.mjs")?)
}

/// Installs the tools of the page's build, and builds the page for static hosts.
pub(crate) fn page_from_scratch(url: Option<&str>) -> Result<()> {
    product_from_scratch()?;
    setup::alone(&workspace::clone_lock_dir(), "site", |held| {
        let mut vite = Node::Installed.run("node_modules/vite/bin/vite.js")?;
        vite.args(["build", "--config", "web/build/hosted.config.ts"]);
        vite.envs(url.map(|url| (PAGE_URL, url)));
        process::run(vite.stdin(held.stdin()?))
    })?;
    output::line("web/site has the page: copy the folder to a static host");
    Ok(())
}

/// Builds every wasm crate.
pub(crate) fn wasm(tools: &WasmTools) -> Result<()> {
    build(tools, &ALL)
}

/// Builds each of the crates whose sources changed.
///
/// A panic is a trap without a text: its formatting code would be a tenth of a download.
fn build(tools: &WasmTools, crates: &[WasmCrate]) -> Result<()> {
    let mut flags = remap::flags(&tools.sysroot()?)?;
    flags.extend(setup::module_flags(tools)?);
    let flags = remap::config(setup::TARGET, &flags);
    for module in crates {
        let stamp = || stamp(module, tools.identity(), &flags, versions::WASM_PACK);
        let build = |held: &Held| build_module(tools, module, &flags, held);
        unless_fresh(module.name, module.pkg, stamp, build)?;
    }
    Ok(())
}

/// Builds a crate.
fn build_module(tools: &WasmTools, module: &WasmCrate, flags: &str, held: &Held) -> Result<()> {
    let &WasmCrate { folder, pkg, name, options, .. } = module;
    let mut wasm_pack = tools.command("wasm-pack")?;
    wasm_pack.args(["build", folder, "--release", "--target", "web"]);
    // wasm-pack takes a relative path from the crate's folder.
    let out = workspace::root().join(pkg);
    wasm_pack.args(["--mode", "no-install", "--out-name", name, "--out-dir"]).arg(&out);
    wasm_pack.args(["--", "--locked"]).args(options);
    // Allows a stable compiler unstable flags.
    wasm_pack.env("RUSTC_BOOTSTRAP", "1").args(["--config", flags, ACROSS]);
    run_in_empty(wasm_pack.stdin(held.stdin()?), &out)?;
    let mut hash = Node::Installed.run(HASH)?;
    process::run(hash.arg(pkg).args(tools.versions()?).stdin(held.stdin()?))
}

/// Runs a build into a folder without its earlier files: a build that was stopped leaves a part of them.
fn run_in_empty(build: &mut Command, folder: &Path) -> Result<()> {
    process::remove_dir(folder)?;
    process::run(build)
}

/// Describes the build of a module by a compiler with `flags`, and by a version of wasm-pack. `Cargo.lock` and
/// `package-lock.json`, which are among its inputs, fix the versions of the other programs.
fn stamp(
    &WasmCrate { pkg, name, sources, options, .. }: &WasmCrate,
    compiler: &str,
    flags: &str,
    wasm_pack: &str,
) -> Result<Stamp> {
    let inputs = [sources, SHARED.as_slice(), &["package-lock.json", HASH]].concat();
    let other = [[compiler, flags, ACROSS, wasm_pack].as_slice(), options].concat();
    Stamp::new(name, &inputs, &other, pkg)
}

/// Makes a release build of cargo for this system one to publish: without symbols, this machine's paths, and the time.
pub(crate) fn published(cargo: &mut Command) -> Result<&mut Command> {
    let sysroot = process::read(process::command("rustc").args(["--print", "sysroot"]))?;
    Ok(remap::published(cargo, &remap::native_flags(Path::new(sysroot.trim()), &host()?)?))
}

/// Returns the name of this machine's target, such as `x86_64-unknown-linux-gnu`.
pub(crate) fn host() -> Result<String> {
    let version = process::read(process::command("rustc").arg("-vV"))?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc names no host")?.to_owned())
}

/// Runs a build of Cargo, and checks that it writes `files`. Removes them first: after a build into another folder,
/// those of an earlier build would still be here.
pub(crate) fn cargo(build: &mut Command, files: &[PathBuf]) -> Result<()> {
    for file in files {
        process::remove_file(file)?;
    }
    process::run(build)?;
    match files.iter().find(|file| !file.is_file()) {
        Some(file) => bail!(
            "{}: expected Cargo to write it; a target in Cargo's settings (CARGO_BUILD_TARGET) moves it elsewhere",
            file.display()
        ),
        None => Ok(()),
    }
}

/// The variable that holds the path of the program `randomx` for tests in JavaScript.
pub(crate) const NATIVE: &str = "RANDOMX_NATIVE";

/// Builds the program `randomx` with some features of its crate, and returns its path.
pub(crate) fn native(profile: &str, features: &[&str]) -> Result<PathBuf> {
    let mut build = process::command("cargo");
    build.args(["build", "--locked", "--package", "randomx-cli", "--profile", profile]);
    if !features.is_empty() {
        build.args(["--features", &features.join(",")]);
    }
    let program = native_path(profile);
    cargo(&mut build, slice::from_ref(&program))?;
    Ok(program)
}

/// The path of the program `randomx` in a profile.
pub(crate) fn native_path(profile: &str) -> PathBuf {
    let name = format!("randomx{}", env::consts::EXE_SUFFIX);
    workspace::target_dir().join(profile).join(name)
}

/// Builds the page into `web/dist` if its sources changed.
pub(crate) fn web() -> Result<()> {
    let stamp = || page_stamp(env::var_os(PAGE_URL).as_deref());
    unless_fresh("web", PAGE, stamp, |held| {
        let mut vite = Node::Installed.run("node_modules/vite/bin/vite.js")?;
        process::run(vite.arg("build").stdin(held.stdin()?))
    })
}

/// The folder of the page that `randomx` serves.
const PAGE: &str = "web/dist";

/// Describes the build of the page for an address.
fn page_stamp(url: Option<&OsStr>) -> Result<Stamp> {
    let inputs = [
        "web",
        "wasm/js",
        "wasm/pkg",
        "wasm/monero/pkg",
        "wasm/block/pkg",
        "wasm/follow/pkg",
        "wasm/explore/pkg",
        "wasm/README.md",
        "tests/vectors",
        "vite.config.ts",
        "package.json",
        "package-lock.json",
    ];
    Stamp::new("web", &inputs, &[&format!("{url:?}")], PAGE)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::fs;

    use clap::CommandFactory;

    use super::{ALL, HASHES, page_stamp, run_in_empty, stamp};
    use crate::{Cli, process};

    #[test]
    fn the_help_names_the_folders_of_all_modules() {
        let command = Cli::command();
        let command = command.find_subcommand("build-wasm").expect("the command");
        let help = command.get_about().expect("a description").to_string();
        for module in ALL {
            assert!(help.contains(&format!("`{}`", module.pkg)), "{}: {help}", module.pkg);
        }
    }

    #[test]
    fn files_of_a_stopped_build_are_removed() {
        let parent = tempfile::tempdir().expect("a folder");
        let folder = parent.path().join("pkg");
        fs::create_dir(&folder).expect("a folder");
        fs::write(folder.join("module.wasm-opt.wasm"), "").expect("a file");
        let mut build = process::command("rustc");
        run_in_empty(build.arg("--version"), &folder).expect("a build");
        assert!(!folder.exists());
    }

    #[test]
    fn another_version_of_a_tool_builds_modules_again() {
        let stamp = |pack: &str| stamp(&HASHES, "rustc 1", "", pack).expect("a stamp");
        assert_eq!(stamp("wasm-pack 1"), stamp("wasm-pack 1"));
        assert_ne!(stamp("wasm-pack 1"), stamp("wasm-pack 2"));
    }

    #[test]
    fn another_address_builds_the_page_again() {
        let stamp = |url: Option<&str>| page_stamp(url.map(OsStr::new)).expect("a stamp");
        let page = "https://example.org/";
        assert_eq!(stamp(Some(page)), stamp(Some(page)));
        assert_ne!(stamp(Some(page)), stamp(None));
    }
}
