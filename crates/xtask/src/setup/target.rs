//! The targets of wasm builds, and the environment of their compiler.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process;

/// The target of every wasm build but one.
pub(crate) const TARGET: &str = "wasm32-unknown-unknown";

/// The target of the C library for Emscripten.
pub(crate) const EMSCRIPTEN: &str = "wasm32-unknown-emscripten";

/// Variables that the outer cargo and the user's shell may have set for native builds. `RUSTFLAGS`
/// would override the flags in `.cargo/config.toml`.
const NATIVE_ONLY: [&str; 8] = [
    "CARGO",
    "CARGO_BUILD_TARGET",
    "CARGO_ENCODED_RUSTFLAGS",
    "RUSTC",
    "RUSTC_WORKSPACE_WRAPPER",
    "RUSTDOC",
    "RUSTDOCFLAGS",
    "RUSTFLAGS",
];

/// Removes settings for native builds from a wasm build.
pub(super) fn unset_native_settings(command: &mut Command) {
    for variable in NATIVE_ONLY {
        command.env_remove(variable);
    }
}

/// Whether a compiler has the standard library for wasm.
pub(super) fn has_target(rustc: &Path) -> bool {
    target_library(rustc).is_some()
}

/// Returns the file of the standard library for wasm.
pub(super) fn target_library(rustc: &Path) -> Option<PathBuf> {
    let sysroot = process::command(rustc).args(["--print", "sysroot"]).output().ok()?;
    let sysroot = String::from_utf8_lossy(&sysroot.stdout).trim().to_owned();
    let folder = Path::new(&sysroot).join("lib/rustlib").join(TARGET).join("lib");
    let mut files = fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    files.find(|file| {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("libstd-") && name.ends_with(".rlib")
    })
}
