//! Looks up the Rust tests that steps select by name. A name that selects nothing would let a step pass.

use std::fs;
use std::mem;
use std::path::{Path, PathBuf};

use crate::workspace;

/// Fails unless a package has a test whose name begins with `name`, such as `module::a_test`. `target` is the folder of
/// its sources in the package, such as `src` or `tests/vectors`.
pub(crate) fn assert_exists(package: &str, target: &str, name: &str) {
    assert_has(package, target, name, |_| true);
}

/// Like [`assert_exists`], for steps that run without `--include-ignored`: a test with `#[ignore]` does not count.
pub(crate) fn assert_runs(package: &str, target: &str, name: &str) {
    assert_has(package, target, name, |test| !test.is_ignored);
}

fn assert_has(package: &str, target: &str, name: &str, counts: impl Fn(&Test<'_>) -> bool) {
    let target = folder_of(package).join(target);
    let (modules, function) = name.rsplit_once("::").unwrap_or(("", name));
    let (text, inline) = source_of(&target, modules);
    let has_modules = inline.iter().all(|module| text.contains(&format!("mod {module} {{")));
    let beginning = format!("fn {function}");
    let has_test = tests(&text).any(|test| test.line.starts_with(&beginning) && counts(&test));
    assert!(has_modules && has_test, "{package} has no test {name} in {}", target.display());
}

/// A test in a source file.
#[derive(Debug, PartialEq, Eq)]
struct Test<'a> {
    /// The line that declares it.
    line: &'a str,
    is_ignored: bool,
}

/// Returns the tests in a text.
fn tests(text: &str) -> impl Iterator<Item = Test<'_>> {
    let (mut is_test, mut is_ignored) = (false, false);
    text.lines().map(str::trim).filter_map(move |line| {
        is_test |= line == "#[test]";
        is_ignored |= line.starts_with("#[ignore");
        if !line.starts_with("fn ") {
            return None;
        }
        let test = Test { line, is_ignored: mem::take(&mut is_ignored) };
        mem::take(&mut is_test).then_some(test)
    })
}

/// Returns the folder of a package.
pub(crate) fn folder_of(package: &str) -> PathBuf {
    let folders = fs::read_dir(workspace::root().join("crates")).expect("the folder of crates");
    let name = format!("name = \"{package}\"\n");
    let is_of_package = |folder: &PathBuf| {
        fs::read_to_string(folder.join("Cargo.toml")).is_ok_and(|text| text.contains(&name))
    };
    let folder = folders.flatten().map(|entry| entry.path()).find(is_of_package);
    folder.unwrap_or_else(|| panic!("no package is called {package}"))
}

/// Returns the text of the file that contains a module, and the names of the modules that begin inside the file.
fn source_of(target: &Path, modules: &str) -> (String, Vec<String>) {
    let mut path: Vec<&str> = modules.split("::").filter(|module| !module.is_empty()).collect();
    let mut inline = Vec::new();
    while let Some(last) = path.last() {
        let file = target.join(path.join("/")).with_extension("rs");
        if let Ok(text) = fs::read_to_string(file) {
            return (text, inline);
        }
        inline.push((*last).to_owned());
        path.pop();
    }
    let files = [target.join("main.rs"), target.join("lib.rs"), target.with_extension("rs")];
    let text = files.iter().find_map(|file| fs::read_to_string(file).ok());
    (text.unwrap_or_else(|| panic!("{} has no sources", target.display())), inline)
}

#[test]
fn only_tests_count() {
    let text = "fn helper() {}\n    #[test]\n    #[ignore]\n    fn a_test() {\nfn other() {}\n\
                #[ignore = \"slow\"]\n#[test]\nfn slow() {\n#[test]\nfn quick() {";
    let found: Vec<_> = tests(text).map(|test| (test.line, test.is_ignored)).collect();
    assert_eq!(found, [("fn a_test() {", true), ("fn slow() {", true), ("fn quick() {", false)]);
}

#[test]
fn ignored_tests_exist_but_do_not_run() {
    let name = "encode::tests::decoding_restores_64_mebibytes";
    assert_exists("randomx-lab", "src", name);
    assert!(std::panic::catch_unwind(|| assert_runs("randomx-lab", "src", name)).is_err());
    assert_runs("xtask", "src", "report::tests::a_failure_ends");
}

#[test]
fn inner_modules_are_found() {
    assert_exists("xtask", "src", "report::tests::a_failure_ends");
    for name in ["report::tests::a_failure_passes", "report::a::tests::a_failure_ends"] {
        let found = std::panic::catch_unwind(|| assert_exists("xtask", "src", name));
        assert!(found.is_err(), "{name}");
    }
}
