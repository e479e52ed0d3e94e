//! A relay: it keeps a node's headers on disk, and serves them.

use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex};

use randomx_http::Server;
use randomx_monero::{Block, BlockError};
use thiserror::Error;

use super::records::{Record, Records};
use super::routes::{Shared, lock, router, settings};
use crate::answer::has_unknown_version;
use crate::node::{self, Node, NodeBlock, NodeError};
use crate::store::{Store, StoreFileError};

/// The name of the file in the store's folder.
const HEADERS: &str = "headers";

/// Blocks that are read from the node at a time.
const CHUNK: u64 = 64;

/// A relay for one node.
pub struct Relay {
    node: Node,
    records: Shared,
    is_final: bool,
    /// Locks the folder.
    _store: Store,
}

impl Relay {
    /// Opens the headers in a folder. A new folder begins with the block at the height `first`.
    ///
    /// # Errors
    ///
    /// If the folder cannot be used.
    pub fn open(node: Node, folder: &Path, first: u64) -> Result<Relay, RelayError> {
        let store = Store::open(folder)?;
        let records = Records::open(&folder.join(HEADERS), first)?;
        let records = Arc::new(Mutex::new(records));
        Ok(Relay { node, records, is_final: false, _store: store })
    }

    /// Lets caches keep answers about old blocks forever if the chain `is_final`: that of the main network
    /// is, while others may be begun anew.
    pub fn with_final_blocks(self, is_final: bool) -> Relay {
        Relay { is_final, ..self }
    }

    /// Returns whether any block was read, now or by an earlier relay of the folder.
    pub fn has_blocks(&self) -> bool {
        lock(&self.records).tip().is_some()
    }

    /// Serves the headers at an address until the returned server is dropped.
    ///
    /// # Errors
    ///
    /// If the address cannot be used, or threads cannot be started.
    pub fn listen(&self, address: SocketAddr) -> Result<Server, RelayError> {
        let router = router(Arc::clone(&self.records), self.is_final);
        Ok(Server::start(address, router, settings())?)
    }

    /// Reads what is new on the node's chain, and returns the height of the last block, if there is
    /// one.
    ///
    /// # Errors
    ///
    /// If the node gives no usable answer, or the disk fails. Everything read before is kept.
    pub fn update(&self) -> Result<Option<u64>, RelayError> {
        let height = self.node.info()?.height.saturating_sub(1);
        self.cut_fork(height)?;
        loop {
            let next = {
                let records = lock(&self.records);
                records.tip().map_or(records.first(), |(tip, _)| tip + 1)
            };
            if next > height {
                return Ok(lock(&self.records).tip().map(|(tip, _)| tip));
            }
            let record = |block: NodeBlock| {
                let parsed = match Block::parse(&block.blob) {
                    Err(_) if has_unknown_version(&block.blob) => {
                        return Err(RelayError::UpdateNeeded(block.header.height));
                    }
                    parsed => parsed?,
                };
                let blob = parsed.hashing_blob().as_bytes().to_vec();
                Ok::<_, RelayError>(Record { blob, difficulty: block.header.difficulty })
            };
            let chunk = next..=height.min(next + CHUNK - 1);
            let (found, failure) = node::fetch(&self.node, chunk, record);
            for record in found {
                if !lock(&self.records).append(&record)? {
                    // The node's chain changed meanwhile; the next update finds where.
                    return Ok(lock(&self.records).tip().map(|(tip, _)| tip));
                }
            }
            // Clients are answered while the disk is busy.
            let file = lock(&self.records).file()?;
            file.sync_data()?;
            if let Some(failure) = failure {
                return Err(failure);
            }
        }
    }

    /// Cuts off the blocks that the node's chain has others for. A shorter chain without others, such
    /// as that of a node that synchronises anew, cuts off none.
    fn cut_fork(&self, height: u64) -> Result<(), RelayError> {
        let (first, tip) = {
            let records = lock(&self.records);
            (records.first(), records.tip())
        };
        let Some((tip, _)) = tip else { return Ok(()) };
        // Forks are short: look close first, then double the distance, then halve it.
        let (mut low, mut high) = (first, tip.min(height) + 1);
        let mut step = 1;
        let (mut found, end) = (false, high);
        while low < high {
            let probe = if found { low.midpoint(high) } else { high.saturating_sub(step).max(low) };
            let ours = lock(&self.records).read(probe, 1)?;
            let ours = ours.first().and_then(Record::ids).map(|(id, _)| id);
            if Some(self.node.header(probe)?.id) == ours {
                (low, found) = (probe + 1, true);
            } else {
                high = probe;
                step *= 2;
            }
        }
        if low < end {
            lock(&self.records).cut(low)?;
        }
        Ok(())
    }
}

/// The reason why a relay cannot go on.
#[derive(Debug, Error)]
pub enum RelayError {
    /// The node gave no usable answer.
    #[error(transparent)]
    Node(#[from] NodeError),
    /// A block of the node cannot be parsed.
    #[error("get_block: {0}")]
    Block(#[from] BlockError),
    /// A block of the node has a version that this release does not know.
    #[error("get_block: block {0} has an unknown version; an update is needed")]
    UpdateNeeded(u64),
    /// The folder cannot be used.
    #[error(transparent)]
    Store(#[from] StoreFileError),
    /// A file or the address cannot be used.
    #[error(transparent)]
    System(#[from] io::Error),
}
