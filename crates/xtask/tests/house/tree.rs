//! The files at the top of the repository, and the length of source files.

use std::collections::BTreeSet;

use crate::assert_none;
use crate::files;

/// The files and folders at the top, besides those whose names start with a dot.
const TOP: [&str; 13] = [
    "CHANGELOG.md",
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE",
    "README.md",
    "crates",
    "package-lock.json",
    "package.json",
    "tests",
    "tsconfig.json",
    "vite.config.ts",
    "wasm",
    "web",
];

/// The longest source file, in lines.
const LONGEST: usize = 400;

#[test]
fn the_top_contains_only_what_tools_need() {
    let paths = files::paths();
    let top: BTreeSet<&str> = paths.iter().filter_map(|path| path.split('/').next()).collect();
    let is_unexpected = |name: &&str| !name.starts_with('.') && !TOP.contains(name);
    let breaches: Vec<String> = top.into_iter().filter(is_unexpected).map(str::to_owned).collect();
    assert_none(&breaches, "the top of the repository is for files that tools expect there");
}

#[test]
fn files_are_short() {
    let mut breaches = Vec::new();
    for file in files::with_extensions("", &["rs", "ts"]) {
        let lines = file.text.lines().count();
        if lines > LONGEST {
            breaches.push(format!("{}: {lines} lines", file.path));
        }
    }
    assert_none(&breaches, "a source file has at most 400 lines; split it by topic");
}
