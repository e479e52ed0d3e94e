//! A relay: it keeps a node's headers on disk, and serves them.

use std::fmt::Write as _;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use randomx_monero::{Block, BlockError};
use serde_json::json;
use thiserror::Error;

use super::MAX_COUNT;
use super::http::{Request, Response, serve};
use super::records::{Record, Records};
use crate::node::{self, Node, NodeError};
use crate::store::{Store, StoreFileError};

/// The name of the file in the store's folder.
const HEADERS: &str = "headers";

/// Blocks that are read from the node at a time.
const CHUNK: u64 = 64;

/// The depth from which blocks count as final for caches: a day.
const FINAL: u64 = 720;

/// The most connections at a time.
const MAX_CONNECTIONS: usize = 64;

/// A relay for one node.
pub struct Relay {
    node: Node,
    records: Arc<Mutex<Records>>,
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
        Ok(Relay { node, records: Arc::new(Mutex::new(records)), _store: store })
    }

    /// Serves the headers at an address, on threads of its own, and returns the address with its
    /// port.
    ///
    /// # Errors
    ///
    /// If the address cannot be used.
    pub fn listen(&self, address: SocketAddr) -> Result<SocketAddr, RelayError> {
        let listener = TcpListener::bind(address)?;
        let address = listener.local_addr()?;
        let records = Arc::clone(&self.records);
        thread::Builder::new().spawn(move || accept(&listener, &records))?;
        Ok(address)
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
            let (blocks, failure) = node::fetch(&self.node, next..=height.min(next + CHUNK - 1));
            for block in blocks {
                let blob = Block::parse(&block.blob)?.hashing_blob().as_bytes().to_vec();
                let record = Record { blob, difficulty: block.header.difficulty };
                if !lock(&self.records).append(&record)? {
                    // The node's chain changed meanwhile; the next update finds where.
                    return Ok(lock(&self.records).tip().map(|(tip, _)| tip));
                }
            }
            if let Some(failure) = failure {
                return Err(failure.into());
            }
        }
    }

    /// Cuts off the blocks that the node's chain no longer has.
    fn cut_fork(&self, height: u64) -> Result<(), RelayError> {
        let (first, tip) = {
            let records = lock(&self.records);
            (records.first(), records.tip())
        };
        let Some((tip, _)) = tip else { return Ok(()) };
        // Forks are short: look close first, then double the distance, then halve it.
        let (mut low, mut high) = (first, tip.min(height) + 1);
        let mut step = 1;
        let mut found = false;
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
        if low <= tip {
            lock(&self.records).cut(low)?;
        }
        Ok(())
    }
}

fn lock(records: &Mutex<Records>) -> MutexGuard<'_, Records> {
    // Every record is checked again when it is read.
    records.lock().unwrap_or_else(PoisonError::into_inner)
}

fn accept(listener: &TcpListener, records: &Arc<Mutex<Records>>) {
    let open = Arc::new(AtomicUsize::new(0));
    for stream in listener.incoming() {
        let Ok(stream) = stream else {
            // Out of file descriptors, for example: wait for connections to end.
            thread::sleep(Duration::from_millis(100));
            continue;
        };
        if open.fetch_add(1, Ordering::Relaxed) >= MAX_CONNECTIONS {
            open.fetch_sub(1, Ordering::Relaxed);
            continue;
        }
        let (records, connections) = (Arc::clone(records), Arc::clone(&open));
        let work = move || {
            answer(&stream, &records);
            connections.fetch_sub(1, Ordering::Relaxed);
        };
        if thread::Builder::new().spawn(work).is_err() {
            open.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

fn answer(stream: &TcpStream, records: &Mutex<Records>) {
    serve(stream, |request| {
        let response = respond(request, &mut lock(records));
        response.unwrap_or_else(|_| Response::empty("500 Internal Server Error"))
    });
}

fn respond(request: &Request, records: &mut Records) -> io::Result<Response> {
    let not_found = || Ok(Response::empty("404 Not Found"));
    let path = request.path.split('?').next().unwrap_or_default();
    let parts: Vec<&str> = path.split('/').collect();
    let (kind, first, count) = match parts[..] {
        ["", "v1", "tip"] => return Ok(tip(records)),
        ["", "v1", kind @ ("headers" | "difficulties"), first, count] => (kind, first, count),
        _ => return not_found(),
    };
    let (Ok(first), Ok(count)) = (first.parse::<u64>(), count.parse::<u64>()) else {
        return not_found();
    };
    let found = records.read(first, count.min(MAX_COUNT))?;
    let (Some(last), Some((tip, _))) = (found.last().and_then(Record::ids), records.tip()) else {
        return not_found();
    };
    let mut body = Vec::new();
    for record in &found {
        if kind == "headers" {
            body.push(record.blob.len() as u8);
            body.extend(&record.blob);
        } else {
            body.extend(record.difficulty.to_le_bytes());
        }
    }
    let complete = found.len() as u64 == count;
    Ok(Response {
        status: "200 OK",
        content_type: "application/octet-stream",
        // The last block's id stands for all before it.
        etag: Some(format!("\"{}\"", hex::encode(last.0))),
        immutable: complete && first.saturating_add(count).saturating_add(FINAL) <= tip,
        body,
    })
}

fn tip(records: &Records) -> Response {
    let Some((height, id)) = records.tip() else {
        return Response::empty("503 Service Unavailable");
    };
    let id = hex::encode(id);
    let mut body = String::new();
    // Writing to a string cannot fail.
    let _ = write!(body, "{}", json!({ "first": records.first(), "height": height, "id": id }));
    Response {
        status: "200 OK",
        content_type: "application/json",
        etag: Some(format!("\"{id}\"")),
        immutable: false,
        body: body.into_bytes(),
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
    /// The folder cannot be used.
    #[error(transparent)]
    Store(#[from] StoreFileError),
    /// A file or the address cannot be used.
    #[error(transparent)]
    System(#[from] io::Error),
}
