//! The shared vectors, computed by C programs.

use std::fs;

use serde::Deserialize;

use randomx_testing::is_full;

use crate::installed;
use crate::program::{Library, Program};

#[derive(Deserialize)]
pub(crate) struct Vectors<T> {
    vectors: Vec<T>,
}

#[derive(Deserialize)]
pub(crate) struct Hash {
    version: u32,
    key: String,
    input: String,
    hash: String,
}

#[derive(Deserialize)]
struct Commitment {
    hash: String,
    commitment: String,
}

/// Reads a file of `tests/vectors`.
pub(crate) fn read<T: for<'a> Deserialize<'a>>(name: &str) -> Vec<T> {
    let path = installed::source("../../tests/vectors").join(name);
    let text = fs::read_to_string(path).expect("a file of vectors");
    let vectors: Vectors<T> = serde_json::from_str(&text).expect("vectors");
    assert!(!vectors.vectors.is_empty(), "{name}");
    vectors.vectors
}

/// Returns vectors as the input of `hashes.c`, and its expected output.
pub(crate) fn lines(vectors: &[Hash]) -> (String, String) {
    let or_none = |hex: &str| if hex.is_empty() { "-".to_owned() } else { hex.to_owned() };
    let line = |Hash { version, key, input, .. }: &Hash| {
        format!("{version} {} {}\n", or_none(key), or_none(input))
    };
    let printed = vectors.iter().map(|vector| vector.hash.clone() + "\n");
    (vectors.iter().map(line).collect(), printed.collect())
}

#[test]
fn hashes_of_both_versions_are_those_of_the_reference() {
    let library = if is_full() { Library::Sanitized } else { Library::Static };
    let program = Program::compile("tests/programs/hashes.c", library);
    for file in ["specification-hashes.json", "reference-hashes.json"] {
        let (input, expected) = lines(&read(file));
        let printed = program.run_with(&input);
        assert_eq!(printed, expected, "{file}");
    }
}

#[test]
fn the_commitment_is_that_of_the_reference() {
    let Commitment { hash, commitment } = read("commitments.json").remove(0);
    let printed = Program::compile("examples/commitment.c", Library::Shared).run(&[]);
    assert_eq!(printed, format!("hash {hash}\ncommitment {commitment}\n"));
}
