//! A block of the verified chain.

use randomx_monero::{Hash, HashingBlob};

/// A verified block.
#[derive(Clone, Debug)]
pub(crate) struct Verified {
    pub(crate) id: Hash,
    pub(crate) blob: HashingBlob,
    /// The difficulty, and the chain's work up to the block, if they are kept.
    pub(crate) work: Option<(u128, u128)>,
}
