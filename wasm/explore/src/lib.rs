//! What the page's Explore view shows: figures of hashes, computed from the core's own trace.
//!
//! A module of the page alone, which its worker loads when the view is opened. Everything is plain Rust: the
//! cache is in this module's own memory, 256 MiB, and programs are interpreted, since what is looked at are
//! the programs and not their speed. What fails is thrown as a JavaScript `Error` with a `code`.

#![deny(unsafe_code)]

mod argument;
mod explorer;
mod failure;
mod fill;
mod plain;

pub use explorer::Explorer;
pub use failure::Failure;
pub use fill::CacheFill;
