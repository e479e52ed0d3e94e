//! Every vector, natively, by every implementation that the machine has.

mod hashes;
mod parts;

use std::io::Write;
use std::path::PathBuf;

use randomx::EngineChoice;

/// The folder of the vector files.
fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors")
}

/// The text of a suite's vector file.
pub(crate) fn vectors_of(suite: &str) -> String {
    std::fs::read_to_string(folder().join(suite).with_extension("json"))
        .unwrap_or_else(|error| panic!("{suite}: {error}"))
}

/// The engines that this build has.
pub(crate) const ENGINES: &[EngineChoice] = if cfg!(target_arch = "x86_64") {
    &[EngineChoice::Interpreter, EngineChoice::Jit]
} else {
    &[EngineChoice::Interpreter]
};

/// Prints a line even if the test passes: what was run is part of the result.
pub(crate) fn say(line: &str) {
    // Only the printing macros are captured.
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// A vector file that no suite runs would be a promise that nobody keeps. Those of Monero's rules, in a
/// folder of their own, the tests of that crate read.
#[test]
fn every_file_has_a_suite() {
    let mut files: Vec<String> = std::fs::read_dir(folder())
        .expect("the vectors are there")
        .filter_map(|entry| Some(entry.ok()?.path()).filter(|path| path.is_file()))
        .filter_map(|path| path.file_stem()?.to_str().map(str::to_owned))
        .collect();
    files.sort();
    let mut suites: Vec<&str> = randomx_conformance::suites().collect();
    suites.sort_unstable();
    assert_eq!(files, suites);
}
