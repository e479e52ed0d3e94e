//! A relay: it keeps a node's headers on disk, and serves them.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use randomx_http::Server;
use randomx_monero::{Block, BlockError, MAX_HEIGHT};
use thiserror::Error;

use super::records::{Record, Records};
use super::routes::{Readiness, Served, lock, router, settings};
use super::stored::Stored;
use crate::answer::has_unknown_version;
use crate::node::{self, Node, NodeBlock, NodeError};
use crate::store::{Store, StoreFileError};

/// The name of the file in the store's folder.
const HEADERS: &str = "headers";

/// Blocks that are read from the node at a time.
const CHUNK: u64 = 64;

/// The time after which an update requests no more blocks, and after which kept headers are served in any case.
const LONGEST: Duration = Duration::from_secs(300);

/// How far an update of a relay came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Update {
    /// All blocks of the node are read.
    Whole,
    /// The node's chain changed meanwhile.
    Changed,
    /// The time was over.
    Late,
}

/// A relay for one node.
pub struct Relay {
    node: Node,
    served: Served,
    /// See [`Relay::is_known`].
    is_known: AtomicBool,
    /// Whether an earlier relay of the folder left blocks.
    is_kept: bool,
    /// The file of the headers.
    file: PathBuf,
    log: Box<dyn Fn(&str) + Send + Sync>,
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
        let file = folder.join(HEADERS);
        let records = Records::open(&file, first)
            .map_err(|problem| RelayError::File { file: file.clone(), problem })?;
        let tip = records.tip().map(|(tip, _)| tip);
        let is_kept = tip.is_some();
        let now = Instant::now();
        let stored = Arc::new(Stored::new(tip.unwrap_or(0), now));
        let records = Arc::new(Mutex::new(records));
        let readiness = Arc::new(Readiness::new(is_kept.then_some(now + LONGEST)));
        let served = Served { records, is_final: false, stored, readiness };
        let is_known = AtomicBool::new(false);
        Ok(Relay { node, served, is_known, is_kept, file, log: Box::new(|_| {}), _store: store })
    }

    /// Takes blocks for final if the chain `is_final`: those with more than 720 blocks after them that were stored a
    /// day ago or by an earlier run. On test networks, reorganisations can be deep. Caches may keep answers about final
    /// blocks forever, and the relay never drops them.
    pub fn with_final_blocks(mut self, is_final: bool) -> Relay {
        self.served.is_final = is_final;
        self
    }

    /// Sends lines for people to `log`.
    pub fn with_log(self, log: impl Fn(&str) + Send + Sync + 'static) -> Relay {
        Relay { log: Box::new(log), ..self }
    }

    /// Returns whether requests are answered: an update has read the whole chain, as far as this release can read
    /// it. Blocks that an earlier relay left in the folder are worth more than no answer: then the end of the first
    /// update is enough, or five minutes.
    pub fn is_ready(&self) -> bool {
        self.served.readiness.is_set()
    }

    /// Returns whether the node had a block of the stored chain, or added one, since the relay was opened.
    pub fn is_known(&self) -> bool {
        self.is_known.load(Ordering::Relaxed)
    }

    /// Serves the headers at an address until the returned server is dropped. Before [`Relay::is_ready`],
    /// answers have the status 503.
    ///
    /// # Errors
    ///
    /// If the address cannot be used, or threads cannot be started.
    pub fn listen(&self, address: SocketAddr) -> Result<Server, RelayError> {
        let router = router(self.served.clone());
        Server::start(address, router, settings())
            .map_err(|problem| RelayError::Listen { address, problem })
    }

    /// Reads what is new on the node's chain. It requests no more blocks after five minutes.
    ///
    /// # Errors
    ///
    /// If the node gives no usable answer or has another chain, or the disk fails. Everything read before is kept.
    pub fn update(&self) -> Result<Update, RelayError> {
        let outcome = self.read(Instant::now() + LONGEST);
        let is_whole = matches!(outcome, Ok(Update::Whole) | Err(RelayError::UpdateNeeded(_)));
        if is_whole || self.is_kept {
            self.served.readiness.set();
        }
        let tip = lock(&self.served.records).tip().map(|(height, _)| height);
        self.served.stored.note(tip.unwrap_or(0), Instant::now());
        outcome
    }

    /// Reads the blocks that are missing.
    fn read(&self, end: Instant) -> Result<Update, RelayError> {
        let records = &self.served.records;
        let height = self.node.info()?.height.saturating_sub(1);
        if height > MAX_HEIGHT {
            return Err(RelayError::TooHigh(height));
        }
        if self.cut_fork(height)? {
            self.is_known.store(true, Ordering::Relaxed);
        }
        loop {
            let next = {
                let records = lock(records);
                records.tip().map_or(records.first(), |(tip, _)| tip + 1)
            };
            if next > height {
                return Ok(Update::Whole);
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
                if !lock(records).append(&record).map_err(|problem| self.failed(problem))? {
                    // The next update finds where.
                    return Ok(Update::Changed);
                }
                self.is_known.store(true, Ordering::Relaxed);
            }
            // Clients are answered while the disk is busy.
            let file = lock(records).file().map_err(|problem| self.failed(problem))?;
            file.sync_data().map_err(|problem| self.failed(problem))?;
            if let Some(failure) = failure {
                return Err(failure);
            }
            if Instant::now() > end {
                return Ok(Update::Late);
            }
        }
    }

    /// Cuts off the blocks that the node's chain has others for. A shorter chain without others, such
    /// as that of a node that synchronises anew, cuts off none. No reorganisation replaces the first block or final
    /// blocks, so the node has the chain of another network then. Returns whether the node has some of the blocks.
    fn cut_fork(&self, height: u64) -> Result<bool, RelayError> {
        let records = &self.served.records;
        let (first, tip) = {
            let records = lock(records);
            (records.first(), records.tip())
        };
        let Some((tip, _)) = tip else { return Ok(false) };
        // Forks are short: look close first, then double the distance, then halve it.
        let (mut low, mut high) = (first, tip.min(height) + 1);
        let mut step = 1;
        let (mut found, end) = (false, high);
        while low < high {
            let probe = if found { low.midpoint(high) } else { high.saturating_sub(step).max(low) };
            let ours = lock(records).read(probe, 1).map_err(|problem| self.failed(problem))?;
            let ours = ours.first().and_then(Record::ids).map(|(id, _)| id);
            if Some(self.node.header(probe)?.id) == ours {
                (low, found) = (probe + 1, true);
            } else {
                high = probe;
                step *= 2;
            }
        }
        if low >= end {
            return Ok(found);
        }
        if low == first || self.served.keeps(low, tip) {
            return Err(RelayError::OtherChain { file: self.file.clone(), height: low });
        }
        lock(records).cut(low).map_err(|problem| self.failed(problem))?;
        self.served.stored.cut(low);
        (self.log)(&format!(
            "a reorganisation at height {low}: dropped {} of {} stored blocks",
            tip + 1 - low,
            tip + 1 - first
        ));
        Ok(found)
    }

    fn failed(&self, problem: io::Error) -> RelayError {
        RelayError::File { file: self.file.clone(), problem }
    }
}

/// The reason why a relay cannot go on.
#[derive(Debug, Error)]
pub enum RelayError {
    /// The node gave no usable answer.
    #[error(transparent)]
    Node(#[from] NodeError),
    /// The node states a height that no chain has.
    #[error("get_info: expected a last block at {MAX_HEIGHT} or below, got {0}")]
    TooHigh(u64),
    /// A block of the node cannot be parsed.
    #[error("get_block: {0}")]
    Block(#[from] BlockError),
    /// A block of the node has a version that this release does not know.
    #[error("get_block: block {0} has an unknown version; an update is needed")]
    UpdateNeeded(u64),
    /// The folder cannot be used.
    #[error(transparent)]
    Store(#[from] StoreFileError),
    /// The file of the headers cannot be used.
    #[error("{}: {problem}", .file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// The reason.
        problem: io::Error,
    },
    /// The address cannot be used.
    #[error("cannot listen on {address}: {problem}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The reason.
        problem: io::Error,
    },
    /// The node's chain differs from the stored one where no reorganisation replaces blocks.
    #[error(
        "{}: the node has another block at height {height}, which no reorganisation replaces; use a node \
         of the same network, or another folder if these headers are of a wrong node",
        .file.display()
    )]
    OtherChain {
        /// The file of the headers, which stays as it is.
        file: PathBuf,
        /// The lowest height at which the blocks differ.
        height: u64,
    },
}

#[cfg(test)]
mod tests {
    use axum::routing::post;
    use axum::{Json, Router};
    use randomx_testing::blocks::block;
    use serde_json::{Value, json};

    use super::*;
    use crate::agent::Route;

    /// Serves the blocks of a node from the genesis block on.
    fn serve(blobs: Vec<Vec<u8>>) -> Server {
        let answer = async move |Json(call): Json<Value>| {
            let Some(height) = call["params"]["height"].as_u64() else {
                return Json(json!({ "result": { "status": "OK", "height": blobs.len() } }));
            };
            let blob = &blobs[height as usize];
            let header = json!({
                "height": height,
                "hash": hex::encode(Block::parse(blob).expect("a block").id()),
                "timestamp": 1,
                "wide_difficulty": "0x1",
                "orphan_status": false,
            });
            let blob = hex::encode(blob);
            Json(json!({ "result": { "status": "OK", "block_header": header, "blob": blob } }))
        };
        let router = Router::new().route("/json_rpc", post(answer));
        Server::start(([127, 0, 0, 1], 0).into(), router, settings()).expect("a port")
    }

    #[test]
    fn an_update_ends_although_blocks_are_missing() {
        let mut previous = [0; 32];
        let blobs = (0..=2 * CHUNK).map(|height| {
            let blob = block(height, 1, &previous, 0);
            previous = Block::parse(&blob).expect("a block").id();
            blob
        });
        let folder = tempfile::tempdir().expect("a folder");
        let open = |server: &Server| {
            let url = format!("http://{}", server.address());
            let route = Route::direct(Duration::from_secs(60));
            let node = Node::new(&route, &node::address(&url).expect("an address"), 0);
            Relay::open(node, folder.path(), 1).expect("a folder")
        };
        let server = serve(blobs.collect());
        let relay = open(&server);
        let tip = || lock(&relay.served.records).tip().map(|(height, _)| height);
        assert_eq!(relay.read(Instant::now()).expect("an honest node"), Update::Late);
        assert_eq!((tip(), relay.is_known()), (Some(CHUNK), true));
        assert_eq!(relay.update().expect("an honest node"), Update::Whole);
        assert_eq!(tip(), Some(2 * CHUNK));
        assert!(relay.is_ready());
        drop(relay);
        // The node synchronises anew, and nothing shows whose chain it has.
        let server = serve(vec![block(0, 1, &[0; 32], 0)]);
        let relay = open(&server);
        assert_eq!(relay.update().expect("a short chain"), Update::Whole);
        assert!(!relay.is_known());
    }
}
