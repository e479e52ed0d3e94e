//! Programs whose output is known from the reference implementation, and programs that check what
//! only this library guarantees.
//!
//! The files in `tests/known` were printed by programs that are linked with Debian's librandomx
//! 1.1.10. The full tier repeats that.

use std::process::Command;

use randomx_testing::is_full;

use crate::installed;
use crate::program::{Library, Program, printed};

const ONE_HASH: &str = "examples/one_hash.c";
const FAST: &str = "examples/fast.cpp";
const SERIES: &str = "tests/programs/series.c";
const ALL_PASSED: &str = "all checks passed\n";

/// Returns the output of a program that is linked with the reference.
fn known(program: &str) -> String {
    let path = installed::source("tests/known").join(program).with_extension("txt");
    std::fs::read_to_string(path).expect("a known output")
}

/// Returns a way to link that both tiers test, and those that only the full tier tests.
fn libraries(quick: Library, full: &[Library]) -> Vec<Library> {
    let more = if is_full() { full } else { &[] };
    [&[quick], more].concat()
}

#[test]
fn one_hash_is_that_of_the_reference() {
    for library in libraries(Library::Static, &[Library::Shared, Library::Sanitized]) {
        assert_eq!(Program::compile(ONE_HASH, library).run(&[]), known("one_hash"), "{library:?}");
    }
}

#[test]
fn a_series_of_random_inputs_is_that_of_the_reference() {
    let program = Program::compile(SERIES, Library::Shared);
    assert_eq!(program.run(&["200"]), known("series"));
}

#[test]
#[ignore = "full tests: needs a C++ compiler, computes a dataset"]
fn a_dataset_computed_and_used_by_threads_is_that_of_the_reference() {
    assert_eq!(Program::compile(FAST, Library::Static).run(&[]), known("fast"));
}

/// In light mode, which has the same hashes and takes no dataset.
#[test]
#[ignore = "full tests: needs Debian's librandomx"]
fn known_outputs_are_those_of_the_reference() {
    assert_eq!(Program::compile(ONE_HASH, Library::Debian).run(&[]), known("one_hash"));
    assert_eq!(Program::compile(SERIES, Library::Debian).run(&["200"]), known("series"));
    let hex = |bytes: &[u8]| -> String { bytes.iter().map(|byte| format!("{byte:02x}")).collect() };
    let key = hex(b"RandomX example key");
    let nonces = (0..8_u32).map(|nonce| format!("1 {key} {}\n", hex(&nonce.to_le_bytes())));
    let hashes = Program::compile("tests/programs/hashes.c", Library::Debian);
    assert_eq!(hashes.run_with(&nonces.collect::<String>()), known("fast"));
}

#[test]
fn misuse_is_harmless() {
    for library in libraries(Library::Static, &[Library::Sanitized]) {
        assert_eq!(Program::compile("tests/programs/misuse.c", library).run(&[]), ALL_PASSED);
    }
}

#[test]
#[ignore = "full tests: uses two datasets and sanitizers"]
fn parts_of_a_dataset_may_overlap() {
    let program = Program::compile("tests/programs/parts.c", Library::Sanitized);
    assert_eq!(program.run(&[]), ALL_PASSED);
}

#[test]
#[ignore = "full tests: starts 83 processes"]
fn an_allocation_that_fails_returns_null() {
    let program = Program::compile("tests/programs/memory.c", Library::Static);
    assert_eq!(program.run(&[]), ALL_PASSED);
}

/// A program that asks for `librandomx.so.0` may get Debian's, so it prints the one that it loaded.
#[test]
fn parent_and_forks_compute_the_same_hashes() {
    let library = installed::native().join("lib/librandomx.so.0");
    let library = library.canonicalize().expect("the installed library");
    let program = Program::compile("tests/programs/fork.c", Library::Shared);
    for version in if is_full() { ["1", "2"].as_slice() } else { &["1"] } {
        assert_eq!(program.run(&[version]), format!("{}\n", library.display()));
    }
}

/// `ulimit -f 0`, systemd's `LimitFSIZE=0`: a file that grows, even in memory, ends the process.
#[test]
fn a_limit_on_file_sizes_changes_no_hash() {
    let program = Program::compile(ONE_HASH, Library::Static);
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -f 0; exec \"$0\""]).arg(program.path());
    assert_eq!(printed(&mut limited), known("one_hash"));
}

/// Valgrind checks every access, also those of machine code, which the sanitizers do not see. It
/// ignores the rounding mode, so the hash is a different one.
#[test]
#[ignore = "full tests: needs Valgrind"]
fn valgrind_finds_nothing() {
    let program = Program::compile("examples/commitment.c", Library::Static);
    let mut valgrind = Command::new("valgrind");
    // Machine code is written at another address than the one it runs at.
    valgrind.args(["--quiet", "--error-exitcode=9", "--leak-check=full", "--smc-check=all"]);
    let checked = printed(valgrind.arg(program.path()));
    assert_eq!(checked.len(), program.run(&[]).len());
}
