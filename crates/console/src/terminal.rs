//! Terminals.

use std::io::{self, IsTerminal};

/// Returns whether progress bars can be drawn on stderr.
///
/// A bar fills its line. A console of Windows moves its cursor to the next line then, unless it interprets escape
/// sequences as other terminals do. This function makes it interpret them.
pub fn draws_bars() -> bool {
    let is_terminal = io::stderr().is_terminal();
    if is_terminal {
        // Before Windows 10 this fails, and bars leave lines behind.
        let _ = enable_ansi_support::enable_ansi_support();
    }
    is_terminal
}
