//! Looks up the Rust tests that steps select by name. A name that selects nothing would let a step pass.

use std::fs;
use std::path::{Path, PathBuf};

use crate::workspace;

/// Fails unless a package has a test whose name begins with `name`, such as `module::a_test`. `target` is the folder of
/// its sources in the package, such as `src` or `tests/vectors`.
pub(crate) fn assert_exists(package: &str, target: &str, name: &str) {
    let target = folder_of(package).join(target);
    let (modules, function) = name.rsplit_once("::").unwrap_or(("", name));
    let (text, inline) = source_of(&target, modules);
    let has_modules = inline.iter().all(|module| text.contains(&format!("mod {module} {{")));
    let beginning = format!("fn {function}");
    let has_test = tests(&text).any(|line| line.starts_with(&beginning));
    assert!(has_modules && has_test, "{package} has no test {name} in {}", target.display());
}

/// Returns the lines that declare tests.
pub(crate) fn tests(text: &str) -> impl Iterator<Item = &str> {
    let mut is_test = false;
    text.lines().map(str::trim).filter(move |line| {
        is_test |= *line == "#[test]";
        line.starts_with("fn ") && std::mem::take(&mut is_test)
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
    let text = "fn helper() {}\n    #[test]\n    #[ignore]\n    fn a_test() {\nfn other() {}";
    assert_eq!(tests(text).collect::<Vec<_>>(), ["fn a_test() {"]);
}

#[test]
fn inner_modules_are_found() {
    assert_exists("xtask", "src", "report::tests::a_failure_ends");
    for name in ["report::tests::a_failure_passes", "report::a::tests::a_failure_ends"] {
        let found = std::panic::catch_unwind(|| assert_exists("xtask", "src", name));
        assert!(found.is_err(), "{name}");
    }
}
