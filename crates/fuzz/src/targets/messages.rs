//! Rules for messages about refused input.

/// The longest message about a line or a body: 200 characters of what it quotes, each of them escaped
/// with 8, and its own words.
const LONGEST_MESSAGE: usize = 200 * 8 + 200;

/// Messages do not repeat a long input.
pub(super) fn short(message: &str) {
    assert!(message.chars().count() <= LONGEST_MESSAGE, "{} characters", message.chars().count());
}

/// Messages to clients have no control characters, nor any that change the direction of text.
pub(super) fn printable(message: &str) {
    short(message);
    let is_odd = |c: char| {
        c.is_control() && c != '\n' && c != '\t'
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}')
    };
    assert!(!message.contains(is_odd), "{message:?}");
}
