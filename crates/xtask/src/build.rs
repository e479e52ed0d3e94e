//! The builds that end in JavaScript: the wasm crates and the page.

use std::env;
use std::path::PathBuf;

use anyhow::Result;

use crate::process;
use crate::setup::{self, Node, WasmTools};
use crate::stamp::Stamp;
use crate::workspace;

/// What every wasm crate is built from, besides itself.
const SHARED: [&str; 5] =
    ["crates/randomx", "crates/monero", "Cargo.toml", "Cargo.lock", ".cargo/config.toml"];

/// A crate that wasm-pack builds into its folder `pkg`.
struct WasmCrate {
    folder: &'static str,
    /// What it is built from, besides [`SHARED`].
    sources: &'static [&'static str],
}

const HASHES: WasmCrate = WasmCrate { folder: "wasm", sources: &["wasm/Cargo.toml", "wasm/src"] };

const MONERO: WasmCrate =
    WasmCrate { folder: "wasm/monero", sources: &["wasm/monero/Cargo.toml", "wasm/monero/src"] };

/// What the page alone has.
const EXPLORE: WasmCrate = WasmCrate {
    folder: "wasm/explore",
    sources: &["wasm/explore/Cargo.toml", "wasm/explore/src", "crates/figures"],
};

const CONFORMANCE: WasmCrate =
    WasmCrate { folder: "crates/conformance", sources: &["crates/conformance", "tests/vectors"] };

/// Installs what the wasm builds need, and builds the crates of the product.
pub(crate) fn product_from_scratch() -> Result<()> {
    setup::packages()?;
    build(&setup::wasm_tools()?, &[HASHES, MONERO, EXPLORE])
}

/// Installs what the wasm builds need, and builds all.
pub(crate) fn wasm_from_scratch() -> Result<()> {
    setup::packages()?;
    wasm(&setup::wasm_tools()?)
}

/// Installs what the npm package's build needs, and builds it.
pub(crate) fn package_from_scratch() -> Result<()> {
    product_from_scratch()?;
    process::run(&mut Node::Installed.run("wasm/build.mjs")?)
}

/// Builds every wasm crate.
pub(crate) fn wasm(tools: &WasmTools) -> Result<()> {
    build(tools, &[HASHES, MONERO, EXPLORE, CONFORMANCE])
}

/// Builds each of the crates whose sources changed.
fn build(tools: &WasmTools, crates: &[WasmCrate]) -> Result<()> {
    for WasmCrate { folder, sources } in crates {
        let inputs = [*sources, SHARED.as_slice(), &["package-lock.json"]].concat();
        let name = folder.replace('/', "-");
        let pkg = format!("{folder}/pkg");
        let stamp = || Stamp::new(&name, &inputs, &[tools.identity()], &pkg);
        if stamp()?.is_fresh() {
            println!("{pkg} is up to date");
            continue;
        }
        let mut wasm_pack = tools.command("wasm-pack")?;
        wasm_pack.args(["build", folder, "--release", "--target", "web"]);
        process::run(wasm_pack.args(["--mode", "no-install", "--out-dir", "pkg"]))?;
        // Taken again: the build may have written Cargo.lock.
        stamp()?.write()?;
    }
    Ok(())
}

/// The variable by which tests in JavaScript find the program `randomx`.
pub(crate) const NATIVE: &str = "RANDOMX_NATIVE";

/// Builds the program `randomx`, with the reference implementation in it.
pub(crate) fn native(profile: &str) -> Result<PathBuf> {
    randomx(&["--all-features", "--profile", profile], profile)
}

/// Builds the program `randomx`, for which nothing has to be installed.
pub(crate) fn server() -> Result<PathBuf> {
    randomx(&["--release"], "release")
}

fn randomx(options: &[&str], profile: &str) -> Result<PathBuf> {
    let mut build = process::command("cargo");
    build.args(["build", "--package", "randomx-cli"]).args(options);
    process::run(&mut build)?;
    let name = format!("randomx{}", env::consts::EXE_SUFFIX);
    Ok(workspace::target_dir().join(profile).join(name))
}

/// Builds the page into `web/dist` if what it is made of changed.
pub(crate) fn web() -> Result<()> {
    let inputs = [
        "web",
        "wasm/js",
        "wasm/pkg",
        "wasm/monero/pkg",
        "wasm/explore/pkg",
        "tests/vectors",
        "vite.config.ts",
        "package-lock.json",
    ];
    let stamp = Stamp::new("web", &inputs, &[], "web/dist")?;
    if stamp.is_fresh() {
        println!("web/dist is up to date");
        return Ok(());
    }
    process::run(Node::Installed.run("node_modules/vite/bin/vite.js")?.arg("build"))?;
    stamp.write()
}
