//! Which way dependencies between crates point.

use cargo_metadata::{DependencyKind, MetadataCommand};

use crate::assert_none;
use crate::files::root;

/// The crates of this repository that each crate may depend on. Tests may use any.
const ALLOWED: &[(&str, &[&str])] = &[
    ("randomx-core", &[]),
    ("randomx-monero", &[]),
    ("randomx-figures", &["randomx-core"]),
    ("randomx-testing", &[]),
    ("randomx-conformance", &["randomx-core", "randomx-monero"]),
    ("randomx-http", &[]),
    ("randomx-files", &[]),
    ("randomx-client", &["randomx-core", "randomx-monero", "randomx-http", "randomx-files"]),
    ("randomx-guard", &["randomx-monero", "randomx-http", "randomx-files", "randomx-client"]),
    ("randomx-console", &[]),
    ("randomx-lab", &["randomx-core", "randomx-figures", "randomx-console"]),
    (
        "randomx-cli",
        &[
            "randomx-core",
            "randomx-monero",
            "randomx-http",
            "randomx-files",
            "randomx-client",
            "randomx-guard",
            "randomx-console",
        ],
    ),
    ("randomx-arrow", &["randomx-core", "randomx-monero"]),
    ("randomx-epochs", &["randomx-monero", "randomx-files", "randomx-arrow"]),
    (
        "randomx-audit",
        &[
            "randomx-core",
            "randomx-monero",
            "randomx-client",
            "randomx-arrow",
            "randomx-epochs",
            "randomx-console",
        ],
    ),
    ("randomx-datafusion", &["randomx-arrow"]),
    (
        "randomx-python",
        &["randomx-core", "randomx-monero", "randomx-arrow", "randomx-epochs", "randomx-console"],
    ),
    ("randomx-capi", &["randomx-core"]),
    ("randomx-node", &["randomx-core"]),
    ("randomx-wasmi", &["randomx-core"]),
    (
        "randomx-fuzz",
        &[
            "randomx-core",
            "randomx-monero",
            "randomx-client",
            "randomx-guard",
            "randomx-cli",
            "randomx-epochs",
            "randomx-testing",
            "randomx-wasmi",
        ],
    ),
    ("randomx-wasm", &["randomx-core"]),
    ("randomx-monero-wasm", &["randomx-monero"]),
    ("randomx-explore-wasm", &["randomx-core", "randomx-figures"]),
    ("xtask", &[]),
];

#[test]
fn crates_depend_one_way() {
    let metadata = MetadataCommand::new()
        .manifest_path(root().join("Cargo.toml"))
        .no_deps()
        .exec()
        .expect("cargo metadata");
    let members = metadata.workspace_packages();
    let mut breaches = Vec::new();
    for package in &members {
        let Some((_, allowed)) = ALLOWED.iter().find(|(name, _)| *name == package.name.as_str())
        else {
            breaches.push(format!("{} is not in the list of this test; add it", package.name));
            continue;
        };
        for dependency in &package.dependencies {
            let is_ours = members.iter().any(|member| member.name.as_str() == dependency.name);
            let is_for_tests = dependency.kind == DependencyKind::Development;
            if is_ours && !is_for_tests && !allowed.contains(&dependency.name.as_str()) {
                breaches.push(format!("{} depends on {}", package.name, dependency.name));
            }
        }
    }
    for (name, _) in ALLOWED {
        if !members.iter().any(|package| package.name.as_str() == *name) {
            breaches.push(format!("{name} is no member of the workspace"));
        }
    }
    assert_none(&breaches, "a crate depends only on the crates that this test lists for it");
}
