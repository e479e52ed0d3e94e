//! Which way dependencies point between crates, and between the modules of `randomx`.

use std::collections::BTreeSet;
use std::fs;

use crate::assert_none;
use crate::source::{self, words};

/// The modules of `randomx`, lowest layer first: a module may use its own layer and those
/// below it.
const LAYERS: &[&[&str]] = &[
    &[
        "params",
        "cpu",
        "environment",
        "error",
        "memory",
        "multiply",
        "reciprocal",
        "blake2b",
        "f64x2",
        "rounding",
        "aes",
        "argon2d",
        "blake_generator",
        "commitment",
        "spread",
    ],
    &["superscalar", "cache"],
    &["registers", "scratchpad", "program"],
    &["engine"],
    &["interpreter", "jit"],
    &["items", "dataset"],
    &["vm"],
    &["pool", "trace"],
];

/// The crates of this repository that each crate may depend on; tests may use any.
const CRATES: &[(&str, &[&str])] = &[
    ("crates/randomx", &[]),
    ("crates/monero", &[]),
    ("crates/conformance", &["randomx", "randomx-monero"]),
    ("crates/console", &[]),
    ("crates/lab", &["randomx", "randomx-figures", "randomx-console"]),
    ("crates/cli", &["randomx", "randomx-monero", "randomx-console"]),
    ("crates/capi", &["randomx"]),
    ("crates/figures", &["randomx"]),
    ("crates/testing", &["randomx"]),
    ("crates/xtask", &[]),
    ("wasm", &["randomx"]),
    ("wasm/monero", &["randomx-monero"]),
    ("wasm/explore", &["randomx", "randomx-figures"]),
];

#[test]
fn modules_of_randomx_use_lower_layers() {
    let mut breaches = Vec::new();
    for file in source::files("crates/randomx/src", &["rs"]) {
        let inside = file.path.trim_start_matches("crates/randomx/src/");
        let own = inside.split(['/', '.']).next().unwrap_or(inside);
        if own == "lib" {
            continue;
        }
        let Some(layer) = layer(own) else {
            breaches.push(format!("{}: `{own}` is in no layer; give it one", file.path));
            continue;
        };
        for used in used_modules(&source::code(&file.text), own) {
            match self::layer(&used) {
                Some(below) if below <= layer => {}
                Some(_) => breaches.push(format!("{}: uses `{used}`, a layer above", file.path)),
                None => breaches.push(format!(
                    "{}: uses `crate::{used}`, which is no module; name the module that has it",
                    file.path
                )),
            }
        }
    }
    assert_none(&breaches, "a module of randomx uses its own layer and those below");
}

#[test]
fn crates_depend_one_way() {
    let mut breaches = Vec::new();
    let members = member_crates();
    let known: Vec<&str> = CRATES.iter().map(|(folder, _)| *folder).collect();
    for (folder, name) in &members {
        let Some((_, allowed)) = CRATES.iter().find(|(known, _)| known == folder) else {
            breaches.push(format!("{folder} is not one of {known:?}; add it"));
            continue;
        };
        for dependency in dependencies(&manifest(folder)) {
            let ours = members.iter().any(|(_, member)| *member == dependency);
            if ours && !allowed.contains(&dependency.as_str()) {
                breaches.push(format!("{name} depends on {dependency}"));
            }
        }
    }
    assert_none(
        &breaches,
        "web -> wasm/js -> wasm -> randomx, wasm/monero -> monero; \
         web -> wasm/explore -> figures; lab -> figures, console; cli -> randomx, monero, console",
    );
}

fn layer(module: &str) -> Option<usize> {
    LAYERS.iter().position(|modules| modules.contains(&module))
}

/// The modules of the crate that code names by `crate::…`, or by `super::…` beside it.
fn used_modules(code: &str, own: &str) -> BTreeSet<String> {
    let mut used = BTreeSet::new();
    for at in words(code, "crate") {
        if let Some(path) = code[at + "crate".len()..].strip_prefix("::") {
            used.extend(first_names(path));
        }
    }
    for at in words(code, "super") {
        if let Some(path) = code[at + "super".len()..].strip_prefix("::") {
            let siblings = first_names(path).into_iter();
            used.extend(siblings.filter(|name| layer(name).is_some() && name != own));
        }
    }
    used
}

/// The first name of a path, or of each path in `{…}`.
fn first_names(path: &str) -> Vec<String> {
    let name = |text: &str| -> String {
        text.trim_start().chars().take_while(|&character| source::is_word(character)).collect()
    };
    let Some(group) = path.strip_prefix('{') else {
        return vec![name(path)];
    };
    let mut depth = 0;
    let mut names = vec![name(group)];
    for (at, character) in group.char_indices() {
        match character {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => names.push(name(&group[at + 1..])),
            _ => {}
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

/// The folder and the package name of each crate.
fn member_crates() -> Vec<(String, String)> {
    let inside = fs::read_dir(source::root().join("crates")).expect("the folder crates");
    let mut folders = vec!["wasm".to_owned(), "wasm/monero".to_owned()];
    for entry in inside {
        let entry = entry.expect("a folder entry");
        if entry.path().join("Cargo.toml").is_file() {
            folders.push(format!("crates/{}", entry.file_name().to_string_lossy()));
        }
    }
    let name = |folder: &String| {
        let manifest = manifest(folder);
        let line = manifest.lines().find_map(|line| line.strip_prefix("name = \""));
        line.and_then(|line| line.strip_suffix('"')).expect("a package name").to_owned()
    };
    folders.iter().map(|folder| (folder.clone(), name(folder))).collect()
}

fn manifest(folder: &str) -> String {
    let path = source::root().join(folder).join("Cargo.toml");
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The packages that a manifest's tables of dependencies name, but for those of tests.
fn dependencies(manifest: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut listing = false;
    for line in manifest.lines().map(str::trim) {
        if let Some(table) = line.strip_prefix('[') {
            let table = table.trim_matches(['[', ']']);
            let (front, last) = table.rsplit_once('.').unwrap_or(("", table));
            let lists = |table: &str| {
                let kind = table.rsplit('.').next().unwrap_or(table);
                kind == "dependencies" || kind == "build-dependencies"
            };
            listing = lists(table);
            if lists(front) {
                names.push(last.to_owned());
            }
        } else if listing && line.starts_with(source::is_word) {
            names.extend(line.split(['=', '.', ' ']).next().map(str::to_owned));
        }
    }
    names
}

#[test]
fn paths_and_manifests_are_read() {
    let code = "use crate::{cache::{Cache, Line}, params}; crate::aes::f(); use super::vm::Vm;";
    let used: Vec<String> = used_modules(code, "dataset").into_iter().collect();
    assert_eq!(used, ["aes", "cache", "params", "vm"]);
    let manifest = "[dependencies]\nrandomx.workspace = true\nhex = \"1\"\n[dev-dependencies]\n\
                    clap = \"4\"\n[target.'cfg(unix)'.dependencies]\nlibc = \"0.2\"\n\
                    [dependencies.serde]\nversion = \"1\"\n[features]\nx = []\n";
    assert_eq!(dependencies(manifest), ["randomx", "hex", "libc", "serde"]);
}
