//! Engines that compile: programs and SuperscalarHash as machine code.

use std::fmt;

#[cfg(all(target_arch = "x86_64", not(target_family = "wasm")))]
pub mod x86_64;

/// Why there is no machine code to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum JitError {
    /// This build has no compiler for this processor.
    Unsupported,
    /// The system gave no memory for code, or refused to make it executable.
    Memory(std::io::ErrorKind),
    /// The code does not fit the memory made for it.
    TooLong,
}

impl fmt::Display for JitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JitError::Unsupported => f.write_str("no machine code for this processor"),
            JitError::Memory(kind) => write!(f, "no memory for machine code: {kind}"),
            JitError::TooLong => f.write_str("the machine code is too long for its memory"),
        }
    }
}

impl std::error::Error for JitError {}

/// How pages of machine code are written; they are never writable and executable at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CodePages {
    /// The same pages at two addresses, one to write and one to execute, so that a new program
    /// costs no system call. Where the system has no such thing, as [`Flipped`](Self::Flipped).
    #[default]
    Aliased,
    /// One address, at which the pages are either writable or executable: the secure choice,
    /// since no other address is ever writable, for two system calls a program.
    Flipped,
}
