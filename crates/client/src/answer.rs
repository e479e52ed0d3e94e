//! The answers of sources.

use randomx_monero::{Hash, LATEST_VERSION};

/// An answer to a [`Query`](randomx_monero::client::Query).
#[derive(Debug, PartialEq, Eq)]
pub enum Answer {
    /// The height and the id of the newest block.
    Tip(u64, Hash),
    /// Hashing blobs.
    Headers(Vec<Vec<u8>>),
    /// Difficulties.
    Difficulties(Vec<u128>),
}

/// Whether a block has a version that this release does not know.
pub(crate) fn has_unknown_version(block: &[u8]) -> bool {
    block.first().is_some_and(|&version| version > LATEST_VERSION)
}
