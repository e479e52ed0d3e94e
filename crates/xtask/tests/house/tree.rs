//! What the repository holds.

use std::fs;

use crate::assert_none;
use crate::source;

/// What may be at the top, besides dot files and dot folders.
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
fn the_top_holds_only_what_tools_need() {
    let ignored = source::ignored();
    let mut breaches = Vec::new();
    for entry in fs::read_dir(source::root()).expect("the root") {
        let name = entry.expect("a folder entry").file_name();
        let name = name.to_string_lossy();
        let typescript = name.starts_with("tsconfig.") && name.ends_with(".json");
        let allowed = name.starts_with('.') || typescript || TOP.contains(&name.as_ref());
        if !allowed && !source::is_ignored(&name, &ignored) {
            breaches.push(name.into_owned());
        }
    }
    assert_none(&breaches, "these do not belong at the top of the repository");
}

#[test]
fn files_are_short() {
    let mut breaches = Vec::new();
    for file in source::files("", &["rs", "ts"]) {
        let lines = file.text.lines().count();
        if lines > LONGEST {
            breaches.push(format!("{}: {lines} lines", file.path));
        }
    }
    assert_none(&breaches, "a source file has at most 400 lines; split it by what it is about");
}
