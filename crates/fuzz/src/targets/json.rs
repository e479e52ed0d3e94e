//! JSON that the code under test accepted.

use serde_json::Value;

/// Parses a document.
///
/// Fields that nobody reads may have other bytes than UTF-8, which become replacement characters, and
/// numbers that no type holds. A document with such a number is `None`.
pub(super) fn read(bytes: &[u8]) -> Option<serde_json::Result<Value>> {
    let json = serde_json::from_str(&String::from_utf8_lossy(bytes));
    let is_beyond =
        |error: &serde_json::Error| error.to_string().starts_with("number out of range");
    if json.as_ref().is_err_and(is_beyond) { None } else { Some(json) }
}

/// Parses a document that was accepted.
pub(super) fn accepted(bytes: &[u8]) -> Option<Value> {
    read(bytes).map(|json| json.expect("an accepted document is JSON"))
}
