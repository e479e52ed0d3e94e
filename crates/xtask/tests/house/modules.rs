//! Which way dependencies between the modules of a crate point.

use std::collections::{BTreeMap, BTreeSet};

use crate::assert_none;
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

/// The crates whose modules this test reads.
const CRATES: &[&str] = &[
    "crates/arrow/src",
    "crates/audit/src",
    "crates/capi/src",
    "crates/cli/src",
    "crates/client/src",
    "crates/conformance/src",
    "crates/console/src",
    "crates/datafusion/src",
    "crates/epochs/src",
    "crates/figures/src",
    "crates/fuzz/src",
    "crates/guard/src",
    "crates/http/src",
    "crates/lab/src",
    "crates/monero/src",
    "crates/node/src",
    "crates/python/src",
    "crates/randomx/src",
    "crates/testing/src",
    "crates/xtask/src",
    "wasm/src",
    "wasm/monero/src",
    "wasm/explore/src",
];

/// A module and those inside it may use each other. Its children, each with all modules inside it,
/// may not use each other in circles.
#[test]
fn siblings_do_not_use_each_other_in_circles() {
    let mut breaches = Vec::new();
    for src in CRATES {
        let modules = modules(src);
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
