//! The names that the libraries export.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::installed;
use crate::program::printed;

/// Returns the functions that the header declares.
fn declared() -> BTreeSet<String> {
    let header = fs::read_to_string(installed::source("include/randomx.h")).expect("the header");
    let declarations = header.split("RANDOMX_EXPORT ").skip(1);
    let names = declarations.filter_map(|text| text.split('(').next()?.rsplit([' ', '*']).next());
    names.filter(|name| name.starts_with("randomx_")).map(str::to_owned).collect()
}

fn listed(options: &[&str], library: &str) -> BTreeSet<String> {
    let mut nm = Command::new("nm");
    nm.args(options).arg("--defined-only").arg(installed::native().join("lib").join(library));
    let text = printed(&mut nm);
    text.lines().filter_map(|line| Some(line.split_whitespace().nth(2)?.to_owned())).collect()
}

#[test]
fn only_functions_of_the_header_are_exported() {
    let declared = declared();
    assert_eq!(declared.len(), 19, "{declared:?}");
    assert_eq!(listed(&["--dynamic"], "librandomx.so"), declared);
    assert_eq!(listed(&["--extern-only"], "librandomx.a"), declared);
}

/// The reference's library has this name, so programs that are linked with one run with the other.
#[test]
fn the_name_of_the_shared_library_is_that_of_its_interface_at_every_version() {
    let lib = installed::native().join("lib");
    let mut readelf = Command::new("readelf");
    let text = printed(readelf.arg("--dynamic").arg(lib.join("librandomx.so")));
    let names: Vec<_> = text.lines().filter(|line| line.contains("(SONAME)")).collect();
    assert!(matches!(names[..], [name] if name.ends_with("[librandomx.so.0]")), "{text}");
    let versioned = concat!("librandomx.so.", env!("CARGO_PKG_VERSION"));
    for name in ["librandomx.so.0", "librandomx.so"] {
        assert_eq!(fs::read_link(lib.join(name)).expect("a link"), Path::new(versioned));
    }
}

#[test]
fn pkg_config_has_prefix_and_version() {
    let installed = installed::native();
    let text = fs::read_to_string(installed.join("lib/pkgconfig/randomx.pc")).expect("randomx.pc");
    let prefix = format!("prefix={}", installed.display());
    assert_eq!(text.lines().next(), Some(prefix.as_str()));
    assert!(text.contains(&format!("\nVersion: {}\n", env!("CARGO_PKG_VERSION"))), "{text}");
    assert!(!text.contains('@'), "{text}");
}
