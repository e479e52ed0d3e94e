//! The static library for programs that Emscripten compiles.

use anyhow::Result;

use super::{Built, folder_of};
use crate::setup::EMSCRIPTEN;
use crate::{process, remap, setup};

/// Builds the library.
pub(super) fn build(profile: &str) -> Result<Built> {
    let tools = setup::wasm_tools()?;
    let library = setup::emscripten_library(&tools)?;
    let mut cargo = tools.command("cargo")?;
    cargo.args(["rustc", "--locked", "--package", "randomx-capi", "--lib", "--profile", profile]);
    cargo.args(["--target", EMSCRIPTEN, "--crate-type", "staticlib", "--config"]);
    cargo.arg(remap::config(EMSCRIPTEN, &[format!("--sysroot={}", library.display())]));
    process::run(&mut cargo)?;
    let folder = tools.built(EMSCRIPTEN, folder_of(profile));
    Ok(Built { archive: folder.join("librandomx.a"), shared: None, private_libraries: "" })
}
