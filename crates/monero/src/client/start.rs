//! Where a client begins.

use std::{error, fmt};

use super::store::StoreError;
use crate::anchor::Anchor;
use crate::checkpoint::{Checkpoint, CheckpointError, MAX_HEIGHT};

/// The block from which a client begins.
#[derive(Clone, Debug)]
pub enum Start {
    /// The network's newest anchor, which is reached from the one before it; see
    /// [`Anchor`]. On a regtest chain, the genesis block.
    Anchors,
    /// Two anchors that the caller trusts, the earlier one first. From 12,000 blocks between them on, no
    /// source can state difficulties for which the client accuses another one wrongly.
    Between(Anchor, Anchor),
    /// A checkpoint that the caller trusts.
    Checkpoint(Checkpoint),
    /// A checkpoint that the caller trusts although it may be implausible. It must be complete.
    /// [`Start::Stored`] refuses a state that was stored while implausible blocks were kept.
    Unchecked(Checkpoint),
    /// The bytes of the last [`Action::Store`](super::Action::Store). If this release refuses a block of them, the client
    /// begins before it; see [`Client::dropped_from`](super::Client::dropped_from).
    Stored(Vec<u8>),
}

/// The reason why a client cannot start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StartError {
    /// The second anchor is not after the first, so close that seed hashes are missing, or has no more work.
    Anchors,
    /// The checkpoint is refused.
    Checkpoint(CheckpointError),
    /// The stored bytes are refused.
    Store(StoreError),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Anchors => write!(
                f,
                "anchors: expected the second to be 2112 blocks or more after the first, below {MAX_HEIGHT}, \
                 and with more work",
            ),
            Self::Checkpoint(error) => write!(f, "checkpoint: {error}"),
            Self::Store(error) => write!(f, "store: {error}"),
        }
    }
}

impl error::Error for StartError {}
