//! Programs that print the same with the reference and with ours, and those that check what only
//! ours promises.

use std::process::Command;

use crate::installed;
use crate::program::{Library, Program, printed};

const ONE_HASH: &str = "examples/one_hash.c";
const FAST: &str = "examples/fast.cpp";
const SERIES: &str = "tests/programs/series.c";
const ALL_HOLD: &str = "all hold\n";

#[test]
fn one_hash_is_that_of_the_reference() {
    let expected = Program::compile(ONE_HASH, Library::Debian).run(&[]);
    for library in [Library::Static, Library::Shared, Library::Sanitized] {
        assert_eq!(Program::compile(ONE_HASH, library).run(&[]), expected, "{library:?}");
    }
}

#[test]
fn a_series_of_random_inputs_is_that_of_the_reference() {
    let expected = Program::compile(SERIES, Library::Debian).run(&["200"]);
    assert_eq!(expected.lines().count(), 200);
    assert_eq!(Program::compile(SERIES, Library::Shared).run(&["200"]), expected);
}

#[test]
fn a_dataset_made_and_used_by_threads_is_that_of_the_reference() {
    let expected = Program::compile(FAST, Library::Debian).run(&[]);
    assert_eq!(expected.lines().count(), 8);
    assert_eq!(Program::compile(FAST, Library::Static).run(&[]), expected);
}

#[test]
fn misuse_is_harmless() {
    for library in [Library::Sanitized, Library::Static] {
        assert_eq!(Program::compile("tests/programs/misuse.c", library).run(&[]), ALL_HOLD);
    }
}

#[test]
fn parts_of_a_dataset_may_overlap() {
    let program = Program::compile("tests/programs/parts.c", Library::Sanitized);
    assert_eq!(program.run(&[]), ALL_HOLD);
}

#[test]
fn memory_that_cannot_be_had_is_null() {
    let program = Program::compile("tests/programs/memory.c", Library::Static);
    assert_eq!(program.run(&[]), ALL_HOLD);
}

/// A program may ask for `librandomx.so.0` and get Debian's, so it prints what was loaded.
#[test]
fn parent_and_forks_compute_the_same_hashes() {
    let library = installed::native().join("lib/librandomx.so.0");
    let library = library.canonicalize().expect("the installed library");
    let program = Program::compile("tests/programs/fork.c", Library::Shared);
    for version in ["1", "2"] {
        assert_eq!(program.run(&[version]), format!("{}\n", library.display()));
    }
}

/// Valgrind sees every access, those of machine code too, which the sanitizers do not. It rounds to
/// nearest whatever the mode, so that the hash is another one.
#[test]
fn valgrind_finds_nothing() {
    let program = Program::compile("examples/commitment.c", Library::Static);
    let mut valgrind = Command::new("valgrind");
    // Machine code is written at another address than the one it runs at.
    valgrind.args(["--quiet", "--error-exitcode=9", "--leak-check=full", "--smc-check=all"]);
    let checked = printed(valgrind.arg(program.path()));
    assert_eq!(checked.len(), program.run(&[]).len());
}
