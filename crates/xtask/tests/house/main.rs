//! The house rules that a compiler does not know: which way dependencies point, where
//! `unsafe` may be, what the repository holds.

mod arrows;
mod imports;
mod source;
mod tree;
mod unsafe_code;

/// Fails with all the breaches of a rule at once.
fn assert_none(breaches: &[String], rule: &str) {
    assert!(breaches.is_empty(), "{rule}:\n  {}", breaches.join("\n  "));
}
