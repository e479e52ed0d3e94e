//! Texts of messages. `format!` would add 2 KiB to the download.

use js_sys::Number;

/// Returns the name of an entry of a list.
pub(crate) fn entry(list: &str, index: usize) -> String {
    [list, "[", &digits(index as f64), "]"].concat()
}

/// Returns a number in decimal digits. JavaScript formats it, because Rust's code for that is large.
pub(crate) fn digits(number: f64) -> String {
    Number::from(number).to_string_with_radix(10).map(String::from).unwrap_or_default()
}
