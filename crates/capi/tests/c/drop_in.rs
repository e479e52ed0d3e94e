//! Programs of other authors, linked with this library.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::installed;
use crate::program::printed;

/// Tests of `randomx-rs` that take seconds. The others pass too, but compute datasets with one thread,
/// which takes minutes.
const QUICK: [&str; 5] = [
    "bindings::tests::alloc_cache",
    "tests::lib_alloc_cache",
    "tests::lib_calculate_hash_is_consistent",
    "tests::test_null_assignments",
    "tests::test_vectors_light_mode",
];

/// The crate `randomx-rs` builds the reference with CMake and links it; here CMake finds this library
/// instead. Its sources are those on crates.io.
#[test]
#[ignore = "full tests: needs CMake"]
fn randomx_rs_passes_its_tests() {
    let copy = installed::folder("randomx-rs");
    let original = sources_of("randomx-rs");
    for part in ["Cargo.toml", "Cargo.lock", "build.rs", "src"] {
        copy_all(&original.join(part), &copy.join(part));
    }
    let mut cargo = installed::cargo();
    cargo.current_dir(&copy).env("CARGO_TARGET_DIR", copy.join("target"));
    cargo.env("RANDOMX_DIR", installed::source("tests/drop_in"));
    cargo.env("RANDOMX_PREFIX", installed::native());
    // Only the library has to be fast.
    cargo.env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0");
    cargo.args(["test", "--release", "--locked", "--lib", "--", "--exact"]).args(QUICK);
    let result = printed(&mut cargo);
    let passed = result.lines().find_map(|line| line.strip_prefix("test result: ok. "));
    let count = passed.and_then(|line| line.split(' ').next()?.parse::<usize>().ok());
    assert_eq!(count, Some(QUICK.len()), "{result}");
}

/// Returns the folder of a package's sources.
fn sources_of(package: &str) -> PathBuf {
    let mut cargo = installed::cargo();
    // Only optional features of other crates need the package.
    cargo.current_dir(installed::source("../..")).args([
        "metadata",
        "--locked",
        "--all-features",
        "--format-version",
        "1",
    ]);
    let metadata: Value = serde_json::from_str(&printed(&mut cargo)).expect("cargo's metadata");
    let packages = metadata["packages"].as_array().expect("packages");
    let found = packages.iter().find(|entry| entry["name"] == package).expect("the package");
    let manifest = Path::new(found["manifest_path"].as_str().expect("a path"));
    manifest.parent().expect("a manifest is in a folder").to_path_buf()
}

fn copy_all(from: &Path, to: &Path) {
    if from.is_dir() {
        fs::create_dir_all(to).expect("a folder");
        for entry in fs::read_dir(from).expect("a folder") {
            let name = entry.expect("a folder entry").file_name();
            copy_all(&from.join(&name), &to.join(&name));
        }
    } else {
        // An unchanged file keeps its time, so that cargo does not rebuild.
        let text = fs::read(from).expect("a file");
        if fs::read(to).ok().as_ref() != Some(&text) {
            fs::write(to, text).expect("a copy");
        }
    }
}
