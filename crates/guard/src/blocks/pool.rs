//! The times since which nodes are asked for the pool's news.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use randomx_monero::Network;
use serde_json::json;

use crate::chain::View;
use crate::epee::Writer;
use crate::nodes::{Call, NoAnswer, Transport};
use crate::service::Service;

use super::format::{BlocksAnswer, BlocksRequest};
use super::{POOL_ONLY, blocks};

/// Two nodes, each with a clock of its own.
struct Nodes {
    service: Service,
    /// The node that answers. The other one fails.
    answers: Arc<Mutex<usize>>,
    /// The nodes' times.
    clock: Arc<Mutex<[u64; 2]>>,
    /// The times in the requests that were answered.
    asked: Arc<Mutex<Vec<u64>>>,
}

impl Nodes {
    fn new() -> Nodes {
        let (answers, clock) = (Arc::new(Mutex::new(0)), Arc::new(Mutex::new([0; 2])));
        let asked = Arc::new(Mutex::new(Vec::new()));
        let nodes = [0, 1].map(|node| {
            let (answers, clock) = (Arc::clone(&answers), Arc::clone(&clock));
            let asked = Arc::clone(&asked);
            let send = move |call: &Call| {
                if *answers.lock().expect("no panic") != node {
                    return Err(NoAnswer::Refused("a problem".to_owned()));
                }
                let request = BlocksRequest::read(&call.body).expect("a request");
                asked.lock().expect("no panic").push(request.pool_since);
                let mut writer = Writer::new();
                writer.bytes("status", b"OK");
                writer.number("daemon_time", clock.lock().expect("no panic")[node]);
                writer.byte("pool_info_extent", if request.pool_since == 0 { 2 } else { 1 });
                Ok(writer.finish())
            };
            (format!("node {node}"), Box::new(send) as Transport)
        });
        let service = Service::before(nodes.into_iter());
        service.chain.show(View::of_base((100, [1; 32]), Network::Mainnet));
        Nodes { service, answers, clock, asked }
    }

    /// Asks for the news since a time, while one node answers at this time of its clock. Returns the time
    /// that this node was asked for.
    fn ask(&self, since: u64, node: usize, time: u64) -> u64 {
        *self.answers.lock().expect("no panic") = node;
        self.clock.lock().expect("no panic")[node] = time;
        let mut request = Writer::new();
        request.byte("requested_info", POOL_ONLY);
        request.number("pool_info_since", since);
        let answer = blocks(&self.service, Instant::now(), &request.finish()).expect("an answer");
        assert!(BlocksAnswer::read(&answer).is_ok());
        self.asked.lock().expect("no panic").pop().expect("a request")
    }
}

#[test]
fn a_node_is_asked_for_news_since_its_own_answer() {
    let nodes = Nodes::new();
    assert_eq!(nodes.ask(0, 0, 1000), 0);
    assert_eq!(nodes.ask(1000, 0, 1020), 1000);
    // Another node sends its whole pool: its clock is behind, and it may know other transactions.
    assert_eq!(nodes.ask(1020, 1, 990), 0);
    assert_eq!(nodes.ask(990, 1, 1010), 990);
    assert_eq!(nodes.ask(1010, 0, 1060), 0);
    // A time that no node of this run sent.
    assert_eq!(nodes.ask(1030, 0, 1080), 0);
    // Another wallet's time.
    assert_eq!(nodes.ask(1060, 0, 1100), 1060);
}

#[test]
fn the_pools_news_count_as_forwarded_when_they_are() {
    let nodes = Nodes::new();
    *nodes.answers.lock().expect("no panic") = 2;
    let mut request = Writer::new();
    request.byte("requested_info", POOL_ONLY);
    assert!(blocks(&nodes.service, Instant::now(), &request.finish()).is_err());
    let counted = || nodes.service.journal.describe()["notVerified"].clone();
    assert_eq!(counted(), json!({}));
    nodes.ask(0, 0, 1000);
    assert_eq!(counted(), json!({ "getblocks.bin: transaction pool": 1 }));
}

#[test]
fn a_time_that_two_nodes_sent_belongs_to_neither() {
    let nodes = Nodes::new();
    assert_eq!(nodes.ask(0, 0, 1000), 0);
    assert_eq!(nodes.ask(0, 1, 1000), 0);
    assert_eq!(nodes.ask(1000, 0, 1020), 0);
    assert_eq!(nodes.ask(1020, 0, 1040), 1020);
}

#[test]
fn only_the_last_times_are_kept() {
    let nodes = Nodes::new();
    for time in 1000..1100 {
        nodes.ask(0, 0, time);
    }
    assert_eq!(nodes.ask(1000, 0, 1100), 0);
    assert_eq!(nodes.ask(1099, 0, 1101), 1099);
}
