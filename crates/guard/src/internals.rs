//! A guard without connections, for the fuzz target in `crates/fuzz`. It has no stability promise: any
//! release may change it.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use randomx_monero::Network;
use randomx_monero::client::Client;
use serde_json::Value;

use crate::archive::Archive;
use crate::chain::{Chain, View};
use crate::dispatch::reply;
use crate::journal::Journal;
use crate::nodes::{Call, NoAnswer, Nodes, Transport};
use crate::service::Service;

/// A node: returns the answer to a request's path and body, or `None` if it fails.
pub type Node = Box<dyn Fn(&str, &[u8]) -> Option<Vec<u8>> + Send + Sync>;

/// Answers wallets about a verified chain, with what nodes send.
pub struct Desk {
    service: Service,
    lies: Arc<Mutex<Vec<Value>>>,
}

impl Desk {
    /// Returns a guard that has followed the client's chain to its end. `None` if there is no chain.
    pub fn new(client: &Client, network: Network, nodes: Vec<Node>) -> Option<Desk> {
        let view = View::of(client, network)?;
        let lies = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&lies);
        let keep = move |evidence: &Value| {
            kept.lock().unwrap_or_else(PoisonError::into_inner).push(evidence.clone());
            Ok(PathBuf::new())
        };
        let journal = Arc::new(Journal::new(Box::new(|_| {}), Box::new(keep)));
        let nodes = nodes.into_iter().zip(1..).map(|(node, number): (Node, u32)| {
            let failed = || NoAnswer::Refused("the node failed".to_owned());
            let send = move |call: &Call| node(&call.path, &call.body).ok_or_else(failed);
            (format!("node {number}"), Box::new(send) as Transport)
        });
        let nodes = Nodes::with_transports(nodes, Arc::clone(&journal));
        // Without a folder, and without a thread that fills it.
        let archive = Archive::new(PathBuf::new(), Duration::ZERO);
        let service = Service::new(Chain::new(Arc::new(archive)), nodes, journal);
        service.chain.show(view);
        service.set_followed(Some(u64::MAX));
        Some(Desk { service, lies })
    }

    /// Answers a wallet's request: an HTTP status and a body.
    pub fn answer(&self, path: &str, body: &[u8]) -> (u16, Vec<u8>) {
        let reply = reply(&self.service, Instant::now(), path, body);
        (reply.status, reply.body)
    }

    /// Returns the evidence of all lies of nodes, as a guard writes it to files.
    pub fn lies(&self) -> Vec<Value> {
        self.lies.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
