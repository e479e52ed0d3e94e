//! A guard that follows a simulated node.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use randomx_client::{HashError, Hasher, Route};
use randomx_guard::{Guard, GuardError, Setup};
use randomx_http::Server;
use randomx_monero::client::{Config, Report, Start};
use randomx_monero::{Hash, Network};
use tempfile::TempDir;
use url::Url;

use super::chain::TestBlock;
use super::node::{Node, Words};
use super::wallet::Wallet;

/// Computes hashes that meet every difficulty of 1.
struct AnyHash;

impl Hasher for AnyHash {
    fn hash(&mut self, _: &Hash, inputs: &[Vec<u8>]) -> Result<Vec<Hash>, HashError> {
        Ok(vec![[0xff; 32]; inputs.len()])
    }

    fn forget(&mut self) {}
}

/// A guard that answers wallets.
pub(crate) struct Guarded {
    // Dropped before the guard.
    server: Server,
    guard: Guard,
    log: Arc<Mutex<Vec<String>>>,
}

impl Guarded {
    /// Starts a guard that keeps so many blocks in memory.
    pub(crate) fn start(nodes: &[&str], store: &Path, kept: u64) -> Guarded {
        Guarded::start_with(nodes, store, kept, AnyHash)
    }

    pub(crate) fn start_with(
        nodes: &[&str],
        store: &Path,
        kept: u64,
        hasher: impl Hasher + 'static,
    ) -> Guarded {
        let log = Arc::new(Mutex::new(Vec::new()));
        let lines = Arc::clone(&log);
        let setup = Setup {
            config: Config {
                fixed_difficulty: Some(1),
                poll: 1,
                kept,
                ..Config::new(Network::Regtest, [7; 32])
            },
            start: Start::Anchors,
            nodes: nodes.iter().map(|url| address(url)).collect(),
            relays: Vec::new(),
            route: Route::direct(Duration::from_secs(60)),
            store,
            log: Box::new(move |line| lines.lock().expect("no panic").push(line.to_owned())),
        };
        let guard = Guard::new(setup, hasher).expect("a guard");
        let server = guard.listen("127.0.0.1:0".parse().expect("an address")).expect("a port");
        Guarded { guard, server, log }
    }

    pub(crate) fn step(&mut self) -> (Vec<Report>, Result<(), GuardError>) {
        self.guard.step()
    }

    /// Whether a node's chain was read to its end.
    pub(crate) fn has_read(&self, node: usize) -> bool {
        let client = self.guard.follower().client();
        client.sources().nth(node).is_some_and(|(source, _)| client.has_read(source))
    }

    /// Follows the chain until the tip has a height.
    pub(crate) fn follow_to(&mut self, height: u64) {
        let limit = Instant::now() + Duration::from_secs(30);
        loop {
            self.guard.step().1.expect("no failure");
            let client = self.guard.follower().client();
            if client.tip().is_some_and(|tip| tip.height == height) && client.is_settled() {
                // Requests see the new state after the step.
                return;
            }
            assert!(Instant::now() < limit, "the tip is {:?}", client.tip());
        }
    }

    /// A wallet that uses this guard.
    pub(crate) fn wallet(&self) -> Wallet {
        Wallet::new(&format!("http://{}", self.address()))
    }

    /// The address at which it answers wallets.
    pub(crate) fn address(&self) -> SocketAddr {
        self.server.address()
    }

    /// The lines of the log. Requests can write some after the guard was dropped.
    pub(crate) fn log(&self) -> Arc<Mutex<Vec<String>>> {
        Arc::clone(&self.log)
    }

    /// Whether a line of the log has a text.
    pub(crate) fn logged(&self, text: &str) -> bool {
        self.log.lock().expect("no panic").iter().any(|line| line.contains(text))
    }
}

fn address(url: &str) -> Url {
    randomx_client::node::address(url).expect("an address")
}

/// Starts a guard before one honest node, with a store in a folder, and follows the whole chain.
pub(crate) fn followed(all: &[TestBlock], kept: u64) -> (Node, Guarded, TempDir) {
    let node = Node::start(Words::honest(all.to_vec()));
    let (guarded, store) = followed_by(&[&node], kept, all.len() as u64 - 1);
    (node, guarded, store)
}

/// The same with two honest nodes.
pub(crate) fn followed_twice(all: &[TestBlock], kept: u64) -> ([Node; 2], Guarded, TempDir) {
    let nodes = [0, 1].map(|_| Node::start(Words::honest(all.to_vec())));
    let (guarded, store) = followed_by(&[&nodes[0], &nodes[1]], kept, all.len() as u64 - 1);
    (nodes, guarded, store)
}

/// Starts a guard with these nodes and a fresh store, which keeps so many blocks, and waits until it has read the chain
/// to this height.
pub(crate) fn followed_by(nodes: &[&Node], kept: u64, height: u64) -> (Guarded, TempDir) {
    let urls: Vec<&str> = nodes.iter().map(|node| node.url.as_str()).collect();
    let store = tempfile::tempdir().expect("a folder");
    let mut guarded = Guarded::start(&urls, store.path(), kept);
    guarded.follow_to(height);
    (guarded, store)
}
