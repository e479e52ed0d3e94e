//! The licences, sources and scripts of npm packages. cargo-deny checks crates.

use std::collections::BTreeMap;
use std::fs;

use serde::Deserialize;

use crate::assert_none;
use crate::files::root;

/// Licences that tools of this repository may have. The packages of these tools are not published.
const ALLOWED: [&str; 12] = [
    "0BSD",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BlueOak-1.0.0",
    "CC-BY-4.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MPL-2.0",
    "Unlicense",
    "Zlib",
];

#[derive(Deserialize)]
struct Lock {
    packages: BTreeMap<String, Entry>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    license: Option<String>,
    integrity: Option<String>,
    /// The address. `.npmrc` leaves those of the registry out.
    resolved: Option<String>,
    #[serde(default)]
    has_install_script: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Manifest {
    #[serde(default)]
    allow_scripts: BTreeMap<String, bool>,
    #[serde(default)]
    dependencies: BTreeMap<String, String>,
}

fn manifest(path: &str) -> Manifest {
    let text = fs::read_to_string(root().join(path)).expect(path);
    serde_json::from_str(&text).expect(path)
}

/// Whether one of the alternatives, `A OR B`, consists of allowed licences, `C AND D`.
fn is_allowed(expression: &str) -> bool {
    let plain = expression.replace(['(', ')'], "");
    plain
        .split(" OR ")
        .any(|choice| choice.split(" AND ").all(|licence| ALLOWED.contains(&licence)))
}

#[test]
fn npm_packages_have_allowed_licences_sources_and_scripts() {
    let text = fs::read_to_string(root().join("package-lock.json")).expect("package-lock.json");
    let lock: Lock = serde_json::from_str(&text).expect("a lock file");
    assert!(lock.packages.len() > 100, "the lock file lists every package");
    let scripts = manifest("package.json").allow_scripts;
    let mut breaches = Vec::new();
    for (path, entry) in lock.packages.iter().filter(|(path, _)| !path.is_empty()) {
        match &entry.license {
            Some(licence) if is_allowed(licence) => {}
            licence => {
                breaches.push(format!("{path}: {}", licence.as_deref().unwrap_or("no licence")))
            }
        }
        if entry.integrity.is_none() {
            breaches.push(format!("{path}: no hash"));
        }
        if let Some(address) = &entry.resolved {
            breaches.push(format!("{path}: from {address}"));
        }
        let (_, name) = path.rsplit_once("node_modules/").expect("an installed package");
        if entry.has_install_script && scripts.get(name) != Some(&true) {
            breaches.push(format!("{path}: runs a script when it is installed"));
        }
    }
    assert_none(
        &breaches,
        "npm packages have an allowed licence, come from the registry with a hash, and run no script",
    );
}

#[test]
fn the_published_package_depends_on_nothing() {
    assert!(manifest("wasm/package.json").dependencies.is_empty());
}

#[test]
fn licence_expressions_are_understood() {
    assert!(is_allowed("MIT"));
    assert!(is_allowed("(GPL-3.0-only OR MIT)"));
    assert!(!is_allowed("(MIT AND GPL-3.0-only)"));
    assert!(!is_allowed("SEE LICENSE IN LICENSE"));
}
