//! Messages on stderr.

use std::io::{self, Write};

/// Prints one [printable] line on stderr.
pub fn print_message(sentence: &str) {
    // If stderr is closed, the exit code still reports the failure.
    let _ = writeln!(io::stderr(), "{}", printable(sentence));
}

/// Escapes the characters with which hostile input, quoted in a message, could control a terminal or
/// reorder the text around it.
pub fn printable(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() || is_bidi_control(character) {
            safe.extend(character.escape_default());
        } else {
            safe.push(character);
        }
    }
    safe
}

/// Whether a character has Unicode's property `Bidi_Control`.
fn is_bidi_control(character: char) -> bool {
    matches!(
        character,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        assert_eq!(printable("a\u{1b}[2Jb\r\n\u{9b}"), "a\\u{1b}[2Jb\\r\\n\\u{9b}");
        assert_eq!(printable("naïve 鍵"), "naïve 鍵");
    }

    #[test]
    fn characters_that_reorder_text_do_not_reach_the_terminal() {
        let text = "a\u{202e}b\u{2066}c\u{61c}d\u{200f}";
        assert_eq!(printable(text), "a\\u{202e}b\\u{2066}c\\u{61c}d\\u{200f}");
        // Letters of any direction stay.
        assert_eq!(printable("אב م"), "אב م");
    }
}
