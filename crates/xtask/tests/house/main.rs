//! The rules that no compiler or linter checks: which way dependencies point, and what the
//! repository contains.

mod crates;
mod files;
mod licences;
mod modules;
mod paths;
mod skips;
mod tree;
mod urls;

/// Fails with all breaches of a rule at once.
fn assert_none(breaches: &[String], rule: &str) {
    assert!(breaches.is_empty(), "{rule}:\n  {}", breaches.join("\n  "));
}
