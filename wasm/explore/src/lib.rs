//! What the page shows of the inside of hashes: figures computed from the core's own trace, and how fast the
//! parts of a hash are by themselves.
//!
//! A module of the page alone, which a worker loads when a view asks it something. Everything is plain Rust: the
//! cache is in this module's own memory, 256 MiB, and programs are interpreted, since what is looked at are
//! the programs and not their speed. What fails is thrown as a JavaScript `Error` with a `code`.

#![deny(unsafe_code)]

mod argument;
mod clock;
mod explorer;
mod failure;
mod fill;
mod parts;
mod plain;

pub use explorer::Explorer;
pub use failure::Failure;
pub use fill::CacheFill;
pub use parts::measure_part;
