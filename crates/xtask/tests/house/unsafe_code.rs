//! Where `unsafe` may be, and that each use says why it is sound.

use crate::assert_none;
use crate::source::{self, Source, words};

/// The files that may use `unsafe`, by the start of their path.
const ALLOWED: &[&str] = &[
    "crates/randomx/src/aes",
    "crates/randomx/src/argon2d",
    "crates/randomx/src/blake2b",
    "crates/randomx/src/environment.rs",
    "crates/randomx/src/f64x2/x86_",
    "crates/randomx/src/jit/x86_64/code_memory",
    "crates/randomx/src/jit/x86_64/superscalar.rs",
    "crates/randomx/src/jit/x86_64/program/call",
    "crates/randomx/src/superscalar/execute",
    // Pointers of C callers; items of a dataset that several threads write.
    "crates/capi/src/lib.rs",
    "crates/capi/src/boundary.rs",
    "crates/capi/src/dataset.rs",
    "wasm/src/host.rs",
    // Instructions that the laboratory measures.
    "crates/lab/src/blake2",
    "crates/lab/src/encode/prefetch.rs",
    "crates/lab/src/randen",
    "crates/lab/src/rdrand",
    "crates/lab/src/sha256",
    // What `randomx bench` measures against.
    "crates/cli/src/bench/reference/ffi",
    // Oracles: hardware rounding, the reference implementation.
    "crates/randomx/tests/",
];

/// How many lines before an `unsafe` block its reason may start.
const REASON_LINES: usize = 6;

#[test]
fn unsafe_is_where_it_may_be() {
    let mut breaches = Vec::new();
    for file in source::files("", &["rs"]) {
        if !ALLOWED.iter().any(|start| file.path.starts_with(start)) {
            let lines = unsafe_lines(&source::code(&file.text), |_| true);
            breaches.extend(lines.iter().map(|line| format!("{}:{line}", file.path)));
        }
    }
    assert_none(&breaches, "unsafe code outside the files for it");
}

#[test]
fn unsafe_has_a_reason() {
    let breaches: Vec<String> =
        source::files("", &["rs"]).iter().flat_map(without_reason).collect();
    assert_none(&breaches, "an unsafe block or impl without a SAFETY comment before it");
}

fn without_reason(file: &Source) -> Vec<String> {
    let lines: Vec<&str> = file.text.lines().collect();
    // Declarations (`unsafe fn`, `unsafe trait`) state what they ask for in their docs.
    let uses = |after: &str| after.starts_with('{') || after.starts_with("impl");
    let found = unsafe_lines(&source::code(&file.text), uses);
    let reasoned = |line: &usize| {
        lines[line.saturating_sub(REASON_LINES + 1)..*line]
            .iter()
            .any(|line| line.contains("SAFETY:"))
    };
    found
        .iter()
        .filter(|line| !reasoned(line))
        .map(|line| format!("{}:{line}", file.path))
        .collect()
}

/// The lines, counted from 1, of each `unsafe` that is followed by what is asked for.
fn unsafe_lines(code: &str, is_asked: impl Fn(&str) -> bool) -> Vec<usize> {
    words(code, "unsafe")
        .filter(|at| is_asked(code[at + "unsafe".len()..].trim_start()))
        .map(|at| code[..at].matches('\n').count() + 1)
        .collect()
}

#[test]
fn unsafe_is_found() {
    let bare = "fn f() {\n    unsafe { g() }\n}\n// unsafe {\nunsafe fn h() {}\n";
    assert_eq!(unsafe_lines(&source::code(bare), |_| true), [2, 5]);
    let file = |text: &str| Source { path: "f.rs".to_owned(), text: text.to_owned() };
    assert_eq!(without_reason(&file(bare)), ["f.rs:2"]);
    let reasoned = bare.replace("    unsafe", "    // SAFETY: g is a fact.\n    unsafe");
    assert!(without_reason(&file(&reasoned)).is_empty());
}
