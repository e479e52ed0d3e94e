//! A relay serves a node's compact headers over HTTP: a day of Monero is 55 KB. Nobody has to trust
//! it, since a client checks everything that it sends.
//!
//! | request                              | answer                                                   |
//! | ------------------------------------ | -------------------------------------------------------- |
//! | `GET /v1/tip`                        | JSON: `first`, `height` and `id`                         |
//! | `GET /v1/headers/FIRST/COUNT`        | for each block a byte with a length, and a hashing blob  |
//! | `GET /v1/difficulties/FIRST/COUNT`   | for each block 16 bytes, the lowest first                |
//!
//! An answer may have fewer blocks than requested, and at most [`MAX_COUNT`]. It has an `ETag`.
//! Answers about final blocks of the main network may be cached forever, others after they were
//! revalidated. A final block has more than 720 blocks after it, and was stored a day ago or by an earlier run. Pages of any origin can read the answers. Before [`Relay::is_ready`], requests
//! get the status 503.

mod client;
#[cfg(feature = "internals")]
pub(crate) mod internals;
mod records;
mod routes;
mod server;
mod stored;

pub use client::{RelayClient, RelayClientError, address};
pub use server::{Relay, RelayError, Update};

/// The most blocks in one answer.
pub const MAX_COUNT: u64 = 2000;
