//! The static library for programs that Emscripten compiles.

use anyhow::Result;

use super::Built;
use crate::{process, setup, workspace};

const TARGET: &str = "wasm32-unknown-emscripten";

/// Builds the library and Rust's standard library. Debian does not package the latter for this
/// target, and builds from elsewhere expect one particular version of Emscripten.
pub(super) fn build(profile: &str) -> Result<Built> {
    let tools = setup::wasm_tools()?;
    setup::standard_library_sources(&tools)?;
    let mut cargo = tools.command("cargo")?;
    // Building the standard library is an unstable feature of a stable compiler.
    cargo.env("RUSTC_BOOTSTRAP", "1");
    cargo.args(["rustc", "--locked", "--package", "randomx-capi", "--lib", "--profile", profile]);
    cargo.args(["--target", TARGET, "-Zbuild-std=std,panic_abort", "--crate-type", "staticlib"]);
    process::run(&mut cargo)?;
    let folder = workspace::wasm_target_dir().join(TARGET).join(profile);
    Ok(Built { archive: folder.join("librandomx.a"), shared: None, private_libraries: "" })
}
