//! Every vector, natively, by every implementation that this machine can run.

mod hashes;
mod parts;

use std::path::PathBuf;

use randomx::EngineChoice;
use randomx::cpu::{Cpu, Extension};

/// The folder of the vector files.
fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors")
}

/// Returns the text of a suite's vector file.
pub(crate) fn vectors_of(suite: &str) -> String {
    std::fs::read_to_string(folder().join(suite).with_extension("json"))
        .unwrap_or_else(|error| panic!("{suite}: {error}"))
}

/// The engines of this build.
pub(crate) const ENGINES: &[EngineChoice] =
    if cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
        &[EngineChoice::Interpreter, EngineChoice::Jit]
    } else {
        &[EngineChoice::Interpreter]
    };

/// Returns this machine and poorer ones, without those that differ from an earlier one only in
/// extensions that the code under test does not use.
pub(crate) fn levels(used: &[Extension]) -> Vec<Cpu> {
    let mut levels: Vec<(Cpu, Vec<bool>)> = Vec::new();
    for cpu in Cpu::detect().levels() {
        let has: Vec<bool> = used.iter().map(|&extension| cpu.has(extension)).collect();
        if levels.iter().all(|(_, other)| *other != has) {
            levels.push((cpu, has));
        }
    }
    levels.into_iter().map(|(cpu, _)| cpu).collect()
}

/// Vectors in a file without a suite would never be checked. The files in the folder `monero` belong
/// to the tests of that crate.
#[test]
fn every_file_has_a_suite() {
    let mut files: Vec<String> = std::fs::read_dir(folder())
        .expect("the folder of the vectors")
        .filter_map(|entry| Some(entry.ok()?.path()).filter(|path| path.is_file()))
        .filter_map(|path| path.file_stem()?.to_str().map(str::to_owned))
        .collect();
    files.sort();
    let mut suites: Vec<&str> = randomx_conformance::suites().collect();
    suites.sort_unstable();
    assert_eq!(files, suites);
}
