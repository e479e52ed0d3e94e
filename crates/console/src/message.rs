//! Messages on stderr.

use std::io::{self, Write};

/// Prints one line on stderr. Control characters are escaped: hostile input quoted in an error could
/// otherwise drive the terminal.
pub fn print_message(sentence: &str) {
    // If stderr is closed, the exit code still reports the failure.
    let _ = writeln!(io::stderr(), "{}", printable(sentence));
}

fn printable(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() {
            safe.extend(character.escape_default());
        } else {
            safe.push(character);
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        assert_eq!(printable("a\u{1b}[2Jb\r\n\u{9b}"), "a\\u{1b}[2Jb\\r\\n\\u{9b}");
        assert_eq!(printable("naïve 鍵"), "naïve 鍵");
    }
}
