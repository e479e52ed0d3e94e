//! Paths of object stores. The library, a module of Python, has no tests in Rust of its own.

#[path = "../src/slashed.rs"]
mod slashed;

use slashed::slashed;

#[test]
fn object_stores_get_slashes_on_every_system() {
    // As a file's name is joined to a folder's on Windows.
    assert_eq!(
        slashed(r"bucket/audit\epoch-0000000000.parquet", '\\'),
        "bucket/audit/epoch-0000000000.parquet"
    );
    assert_eq!(slashed(r"bucket\audit", '\\'), "bucket/audit");
    // Elsewhere a backslash is a part of a name.
    assert_eq!(slashed(r"bucket/a\b", '/'), r"bucket/a\b");
}
