//! Paths of object stores, whose names have slashes on every system.

use std::borrow::Cow;

/// Returns a path with slashes, given this system's separator. Only Windows has another one, and takes both.
pub(crate) fn slashed(path: &str, separator: char) -> Cow<'_, str> {
    match separator {
        '/' => Cow::Borrowed(path),
        other => Cow::Owned(path.replace(other, "/")),
    }
}
