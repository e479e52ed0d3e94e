//! Verifies RandomX proofs of work in Arrow record batches.
//!
//! A [`Kernel`] takes a batch with a row for each proof of work, and returns the same batch with
//! three more columns. It hashes the rows of each seed hash together, in lanes, on several threads.
//!
//! | column of the input | types                                                                    |
//! | ------------------- | ------------------------------------------------------------------------ |
//! | `seed_hash`         | 32 bytes: any type of binary, or hexadecimal digits in any type of string |
//! | `hashing_blob`      | up to 1 MiB: the same types                                               |
//! | `difficulty`        | an integer, a decimal without fraction, or decimal digits in a string     |
//! | `target`            | 4, 8 or 32 bytes in little-endian order, as pools send them               |
//! | `version`           | optional: 1 or 2, RandomX's version; 1 where it is null                   |
//!
//! `difficulty` or `target` may be missing, or null in some rows; a hash must meet all that its row
//! has. Each column may also be encoded with a dictionary. Other columns are kept as they are.
//!
//! | column of the output | type                  | contents                                              |
//! | -------------------- | --------------------- | ----------------------------------------------------- |
//! | `pow_hash`           | `FixedSizeBinary(32)` | the hash, or null if it was not computed              |
//! | `valid`              | `Boolean`             | whether the row proves its work; null if not judged   |
//! | `reason`             | `Utf8`                | why `valid` is not true                               |
//!
//! If [`Settings::blocks`] names a network, `valid` is null for blocks from before RandomX, and for blocks of a version
//! that this release does not know. [`read::need_update`] returns the latter. With [`Settings::stated`], `valid` is null
//! for hashes that miss their difficulties by less than 3.1 %. All other rows have a verdict.
//!
//! Nulls and malformed values make their own row invalid, with a reason, and never end the run. After
//! 1 GiB of reasons in a batch, further reasons are null. Only a missing column, a column of another
//! type, or missing memory is a [`KernelError`].

mod bytes;
mod error;
mod group;
mod kernel;
mod number;
mod place;
pub mod read;
mod requirement;
mod row;

pub use error::KernelError;
pub use kernel::{Kernel, Settings};

/// The names of the columns that the kernel appends.
pub const OUTPUTS: [&str; 3] = ["pow_hash", "valid", "reason"];

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
