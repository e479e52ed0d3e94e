//! The page's view into hashes: figures from the core's trace, and the speed of the parts of a hash.
//!
//! Only the page uses this module; a worker loads it on the first request. It generates no code: the cache of
//! 256 MiB is in its own memory, and programs are interpreted, because the page shows what programs do and
//! not how fast they are. Failures are thrown as a JavaScript `Error` with a `code`.

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
