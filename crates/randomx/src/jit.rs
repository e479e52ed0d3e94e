//! Engines that compile: programs and SuperscalarHash as machine code.

pub use crate::error::JitError;

pub mod wasm;
#[cfg(target_arch = "x86_64")]
pub mod x86_64;

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
