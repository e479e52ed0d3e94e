//! The installed library, built once for all tests.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use randomx_testing::is_full;

/// Returns the folder of the native library, built with the profile of these tests. The quick tests
/// install what cargo built with them, which may have features that other crates use.
pub(crate) fn native() -> &'static Path {
    static PREFIX: OnceLock<PathBuf> = OnceLock::new();
    let built = if is_full() { "--profile" } else { "--tested" };
    PREFIX.get_or_init(|| install("native", &[built, &profile()]))
}

/// Returns the folder of the library for Emscripten, built with the same profile.
pub(crate) fn emscripten() -> &'static Path {
    static PREFIX: OnceLock<PathBuf> = OnceLock::new();
    PREFIX.get_or_init(|| install("emscripten", &["--emscripten", "--profile", &profile()]))
}

/// Creates a folder for files of these tests, inside cargo's target folder.
pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = target().join("capi").join(name);
    std::fs::create_dir_all(&folder).expect("a folder for a test");
    folder
}

/// Returns the path of a file of this crate.
pub(crate) fn source(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Returns cargo without the variables that an outer cargo has set for this test.
pub(crate) fn cargo() -> Command {
    let mut cargo = Command::new("cargo");
    for variable in ["CARGO", "RUSTC", "RUSTFLAGS", "CARGO_MANIFEST_DIR", "CARGO_BUILD_TARGET"] {
        cargo.env_remove(variable);
    }
    cargo
}

fn install(name: &str, options: &[&str]) -> PathBuf {
    let prefix = folder(name);
    let mut cargo = cargo();
    cargo.current_dir(source("../..")).env("CARGO_TARGET_DIR", target());
    cargo.args(["xtask", "capi"]).args(options);
    let status = cargo.arg("--prefix").arg(&prefix).status().expect("cargo");
    assert!(status.success(), "cargo xtask capi, {name}: {status}");
    prefix
}

/// Returns cargo's target folder. This program is in its subfolder `PROFILE/deps`.
pub(crate) fn target() -> PathBuf {
    let program = std::env::current_exe().expect("the path of this test");
    program.ancestors().nth(3).expect("the target folder").to_path_buf()
}

fn profile() -> String {
    let program = std::env::current_exe().expect("the path of this test");
    let folder = program.ancestors().nth(2).and_then(Path::file_name).expect("a profile's folder");
    match folder.to_str().expect("a profile's name") {
        "debug" => "dev".to_owned(),
        other => other.to_owned(),
    }
}
