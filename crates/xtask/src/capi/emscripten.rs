//! The static library for C and C++ programs that Emscripten compiles.

use anyhow::Result;

use super::Built;
use crate::{process, setup, workspace};

const TARGET: &str = "wasm32-unknown-emscripten";

/// Builds the library together with Rust's standard library, which has no build for this target
/// in Debian's packages, and elsewhere one that expects a certain version of Emscripten.
pub(super) fn build(profile: &str) -> Result<Built> {
    let tools = setup::wasm_tools()?;
    setup::standard_library_sources(&tools)?;
    let mut cargo = tools.command("cargo")?;
    // Building the standard library is an unstable feature of a stable compiler.
    cargo.env("RUSTC_BOOTSTRAP", "1");
    cargo.args(["rustc", "--package", "randomx-capi", "--lib", "--profile", profile]);
    cargo.args(["--target", TARGET, "-Zbuild-std=std,panic_abort", "--crate-type", "staticlib"]);
    process::run(&mut cargo)?;
    let folder = workspace::wasm_target_dir().join(TARGET).join(profile);
    Ok(Built { archive: folder.join("librandomx.a"), shared: None, private_libraries: "" })
}
