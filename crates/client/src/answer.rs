//! What sources answer.

use randomx_monero::Hash;

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
