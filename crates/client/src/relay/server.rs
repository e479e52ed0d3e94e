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

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use super::*;

    /// A file with the blocks from height 1 to `count`.
    fn records(folder: &Path, count: u32) -> Records {
        let mut records = Records::open(&folder.join(HEADERS), 1).expect("a file");
        let mut previous = [0; 32];
        for n in 1..=count {
            let blob = [&[16, 16, 1][..], &previous, &n.to_le_bytes(), &[7; 32], &[1]].concat();
            let record = Record { blob, difficulty: n.into() };
            previous = record.ids().expect("a header").0;
            assert!(records.append(&record).expect("writable"));
        }
        records
    }

    fn get(records: &mut Records, path: &str) -> Response {
        let request =
            Request { method: "GET".to_owned(), path: path.to_owned(), if_none_match: None };
        respond(&request, records).expect("readable")
    }

    #[test]
    fn answers_have_the_requested_blocks_and_a_limit() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut records = records(folder.path(), 3000);
        for (first, count, blocks) in
            [(1, 1, 1), (5, 1000, 1000), (2990, 1000, 11), (1, 9999, 2000)]
        {
            let headers = get(&mut records, &format!("/v1/headers/{first}/{count}"));
            assert_eq!((headers.status, headers.body.len()), ("200 OK", 73 * blocks));
            let difficulties = get(&mut records, &format!("/v1/difficulties/{first}/{count}"));
            assert_eq!(difficulties.body.len(), 16 * blocks);
        }
        let tip = get(&mut records, "/v1/tip");
        let (height, id) = records.tip().expect("blocks");
        assert_eq!(height, 3000);
        assert!(String::from_utf8_lossy(&tip.body).contains(&hex::encode(id)));
    }

    #[test]
    fn only_old_blocks_may_be_cached_forever() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut records = records(folder.path(), 2000);
        assert!(get(&mut records, "/v1/headers/1/1000").immutable);
        assert!(get(&mut records, "/v1/headers/1/1279").immutable);
        assert!(!get(&mut records, "/v1/headers/1/1280").immutable);
        assert!(!get(&mut records, "/v1/headers/1990/1000").immutable);
        assert!(!get(&mut records, "/v1/tip").immutable);
    }

    #[test]
    fn other_paths_are_not_found() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut records = records(folder.path(), 10);
        for path in [
            "",
            "/",
            "/v1",
            "/v1/headers",
            "/v1/headers/1",
            "/v1/headers/x/1",
            "/v1/headers/-1/1",
            "/v1/headers/1/1/1",
            "/v1/headers/11/1",
            "/v1/headers/0/1",
            "/v1/headers/1/0",
            "/v1/headers/18446744073709551615/18446744073709551615",
            "/v1/../lock",
            "/v2/tip",
        ] {
            assert_eq!(get(&mut records, path).status, "404 Not Found", "{path}");
        }
    }

    #[test]
    fn connections_are_answered_with_cors_and_revalidation() {
        let folder = tempfile::tempdir().expect("a folder");
        let records = Arc::new(Mutex::new(records(folder.path(), 10)));
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        thread::spawn(move || accept(&listener, &records));
        let ask = |request: &str| {
            let mut stream = TcpStream::connect(address).expect("a connection");
            stream.write_all(request.as_bytes()).expect("writable");
            let mut answer = Vec::new();
            stream.read_to_end(&mut answer).expect("readable");
            String::from_utf8_lossy(&answer).into_owned()
        };
        let tip = ask("GET /v1/tip HTTP/1.1\r\n\r\n");
        assert!(tip.starts_with("HTTP/1.1 200 OK\r\n") && tip.contains("Allow-Origin: *\r\n"));
        let etag = tip.split("ETag: ").nth(1).and_then(|rest| rest.split("\r\n").next());
        let etag = etag.expect("an ETag");
        let again = ask(&format!("GET /v1/tip HTTP/1.1\r\nIf-None-Match: {etag}\r\n\r\n"));
        assert!(again.starts_with("HTTP/1.1 304 Not Modified\r\n") && again.ends_with("\r\n\r\n"));
        let head = ask("HEAD /v1/headers/1/5 HTTP/1.1\r\n\r\n");
        assert!(head.contains("Content-Length: 365\r\n") && head.ends_with("\r\n\r\n"));
        assert!(ask("OPTIONS /v1/tip HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 204"));
        assert!(ask("POST /v1/tip HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405"));
        assert_eq!(ask("nonsense\r\n\r\n"), "");
    }
}
