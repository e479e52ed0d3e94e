//! Which way dependencies between the modules of a crate point.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use cargo_metadata::MetadataCommand;

use crate::assert_none;
use crate::files;
use crate::paths::{ModulePath, file_of, modules};

/// The modules of `randomx`, lowest layer first. A module may use its own layer and those below it.
const LAYERS: &[&[&str]] = &[
    &[
        "params",
        "cpu",
        "environment",
        "error",
        "memory",
        "multiply",
        "reciprocal",
        "turns",
        "once",
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
    &["items", "dataset", "implementations"],
    &["vm"],
    &["pool", "trace"],
];

#[test]
fn modules_of_randomx_use_lower_layers() {
    let mut breaches = Vec::new();
    for (path, module) in modules("crates/randomx/src") {
        // The root re-exports items of every layer.
        let Some(own) = path.first() else { continue };
        let Some(own_layer) = layer(own) else {
            breaches.push(format!("{}: `{own}` has no layer; give it one", module.file));
            continue;
        };
        for used in module.used.iter().filter_map(|used| used.first()) {
            match layer(used) {
                Some(below) if below <= own_layer => {}
                Some(_) => breaches.push(format!("{}: uses `{used}`, a layer above", module.file)),
                None => breaches.push(format!(
                    "{}: uses `crate::{used}`, which is no module; name its module instead",
                    module.file
                )),
            }
        }
    }
    assert_none(&breaches, "a module of randomx uses its own layer and those below");
}

fn layer(module: &str) -> Option<usize> {
    LAYERS.iter().position(|modules| modules.contains(&module))
}

/// Returns the folders `src` of all crates.
fn sources() -> Vec<String> {
    let paths = files::paths();
    let manifests = paths.iter().filter_map(|path| path.strip_suffix("/Cargo.toml"));
    let sources = manifests.map(|folder| format!("{folder}/src"));
    let is_there = |src: &String| {
        ["lib.rs", "main.rs"].iter().any(|root| paths.contains(&format!("{src}/{root}")))
    };
    sources.filter(is_there).collect()
}

#[test]
fn the_sources_are_those_of_all_members() {
    let metadata = MetadataCommand::new()
        .manifest_path(files::root().join("Cargo.toml"))
        .no_deps()
        .exec()
        .expect("cargo metadata");
    assert_eq!(sources().len(), metadata.workspace_members.len(), "{:?}", sources());
}

#[test]
fn the_code_map_lists_all_modules_of_randomx() {
    let map = fs::read_to_string(files::root().join("crates/README.md")).expect("a file");
    let (_, inside) = map.split_once("## Inside `randomx`").expect("the part about randomx");
    let rows = inside.lines().skip_while(|line| !line.starts_with("| ---")).skip(1);
    let cells = rows.map_while(|row| row.strip_prefix('|')?.split('|').nth(1));
    let listed: BTreeSet<&str> =
        cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect();
    let layers: BTreeSet<&str> = LAYERS.iter().copied().flatten().copied().collect();
    assert_eq!(listed, layers);
}

/// A module and those inside it may use each other. Its children, each with all modules inside it,
/// may not use each other in circles.
#[test]
fn siblings_do_not_use_each_other_in_circles() {
    let mut breaches = Vec::new();
    for src in sources() {
        let modules = modules(&src);
        let mut edges = Edges::new();
        for (path, module) in &modules {
            for used in &module.used {
                let Some(target) = file_of(&modules, used) else { continue };
                let common =
                    path.iter().zip(target).take_while(|(one, other)| one == other).count();
                // Neither contains the other: they are inside different children of one module.
                if common < path.len() && common < target.len() {
                    let [from, to] = [path, target].map(|path| path[..=common].to_vec());
                    edges.entry(from).or_default().insert(to);
                }
            }
        }
        breaches.extend(circles(&edges).iter().map(|circle| {
            let names: Vec<String> = circle.iter().map(|path| path.join("::")).collect();
            format!("{src}: {}", names.join(", "))
        }));
    }
    assert_none(&breaches, "modules side by side do not use each other in circles");
}

/// The modules that each module uses.
type Edges = BTreeMap<ModulePath, BTreeSet<ModulePath>>;

/// Returns the groups of modules that use each other, directly or through others.
fn circles(edges: &Edges) -> BTreeSet<BTreeSet<ModulePath>> {
    let reachable = |start: &ModulePath| -> BTreeSet<ModulePath> {
        let mut reached = BTreeSet::new();
        let mut next: Vec<&ModulePath> = edges.get(start).into_iter().flatten().collect();
        while let Some(module) = next.pop() {
            if reached.insert(module.clone()) {
                next.extend(edges.get(module).into_iter().flatten());
            }
        }
        reached
    };
    let reached: Edges = edges.keys().map(|module| (module.clone(), reachable(module))).collect();
    let returns = |from: &ModulePath, to: &ModulePath| {
        reached.get(from).is_some_and(|modules| modules.contains(to))
    };
    let mut circles = BTreeSet::new();
    for (module, others) in &reached {
        let circle: BTreeSet<ModulePath> =
            others.iter().filter(|other| returns(other, module)).cloned().collect();
        if !circle.is_empty() {
            circles.insert(circle);
        }
    }
    circles
}

#[test]
fn circles_are_found() {
    let edges = |pairs: &[(&str, &str)]| -> Edges {
        let mut edges = Edges::new();
        for (from, to) in pairs {
            edges.entry(vec![(*from).to_owned()]).or_default().insert(vec![(*to).to_owned()]);
        }
        edges
    };
    assert!(circles(&edges(&[("a", "b"), ("a", "c"), ("b", "c")])).is_empty());
    let found = circles(&edges(&[("a", "b"), ("b", "c"), ("c", "b"), ("c", "d")]));
    let expected = [[vec!["b".to_owned()], vec!["c".to_owned()]].into()].into();
    assert_eq!(found, expected);
}
