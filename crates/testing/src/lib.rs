//! Helpers of the Rust tests: the tier, and lines about what ran.

use std::fmt::Display;
use std::io::Write;

/// Whether `cargo xtask test --full` runs this test.
pub fn is_full() -> bool {
    std::env::var("RANDOMX_TESTS").is_ok_and(|tier| tier == "full")
}

/// Returns `full` in the full tier, and `quick` otherwise.
pub fn amount(quick: usize, full: usize) -> usize {
    if is_full() { full } else { quick }
}

/// Prints a line even if the test passes, to report how much ran.
pub fn say(line: impl Display) {
    // The test harness captures the printing macros only.
    let _ = writeln!(std::io::stdout(), "{line}");
}
