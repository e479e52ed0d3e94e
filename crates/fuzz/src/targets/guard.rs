//! A guard between wallets and nodes, with hostile requests and nodes that lie.
//!
//! An input is a wallet's request with the answers of nodes to it. The verified chain is always the
//! same, so each part of an answer that the guard vouches for is compared with that chain's bytes.

mod checks;
mod seeds;

#[path = "../../../guard/tests/guard/chain.rs"]
#[allow(dead_code, reason = "the guard's own tests use all of it")]
mod chain;
#[path = "../../../guard/tests/guard/node.rs"]
#[allow(dead_code, reason = "the guard's own tests use all of it")]
mod node;
#[path = "../../../guard/tests/guard/reader.rs"]
mod reader;
#[path = "../../../guard/src/epee/writer.rs"]
#[allow(dead_code, reason = "the guard uses all of it")]
mod writer;

use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use randomx_guard::internals::{Desk, Node};
use randomx_monero::client::Client;
use randomx_monero::{Block, Network};
use serde_json::Value;

use super::stores::client_of;
use crate::Target;
use crate::input::Input;
use chain::TestBlock;
use node::{Words, respond};

pub(super) const GUARD: Target =
    Target { name: "guard", longest: 8192, quick: 1000, run, seeds: seeds::seeds };

/// Blocks after the genesis block. More than ten, since another block ten below the tip is a lie.
const BLOCKS: u64 = 14;

/// The paths of requests, and whether nobody can verify the answers. Nodes know them by the same names.
const PATHS: [(&str, bool); 12] = [
    ("/getblocks.bin", false),
    ("/getblocks_by_height.bin", false),
    ("/gethashes.bin", false),
    ("/gettransactions", false),
    ("/json_rpc", false),
    ("/is_key_image_spent", true),
    ("/get_outs.bin", true),
    ("/get_output_distribution.bin", true),
    ("/get_o_indexes.bin", true),
    ("/sendrawtransaction", true),
    ("/get_transaction_pool_hashes.bin", true),
    ("/get_info", false),
];

/// Methods of JSON-RPC whose answers nobody can verify.
const PASSED_ON_METHODS: [&str; 3] =
    ["get_output_histogram", "get_output_distribution", "get_txpool_backlog"];

/// Bits of an input's second byte: a second node, and nodes that tell the truth where the guard asks
/// for more than the wallet did.
const TWO_NODES: u8 = 1;
const HONEST: u8 = 2;

static CHAIN: LazyLock<Vec<TestBlock>> = LazyLock::new(|| chain::chain(BLOCKS, BLOCKS));

static CLIENT: LazyLock<Client> = LazyLock::new(|| {
    let blob = |block: &TestBlock| {
        Block::parse(&block.blob).expect("a block").hashing_blob().as_bytes().to_vec()
    };
    client_of(&CHAIN[1..].iter().map(blob).collect::<Vec<_>>())
});

/// The scripted answers of the nodes, and the requests that they received.
struct Script {
    /// The path of the wallet's request.
    path: &'static str,
    /// The answer of each node to the wallet's request.
    answers: [Vec<u8>; 2],
    /// The answer to other requests, unless that is the truth.
    other: Option<Vec<u8>>,
    /// The paths and bodies of all requests to nodes.
    forwarded: Mutex<Vec<(String, Vec<u8>)>>,
}

impl Script {
    fn answer(&self, node: usize, path: &str, body: &[u8]) -> Vec<u8> {
        let mut forwarded = self.forwarded.lock().unwrap_or_else(PoisonError::into_inner);
        forwarded.push((path.to_owned(), body.to_vec()));
        if path == self.path {
            return self.answers[node].clone();
        }
        self.other.clone().unwrap_or_else(|| truth(path, body))
    }
}

/// Returns an honest node's answer.
fn truth(path: &str, body: &[u8]) -> Vec<u8> {
    respond(&Words::honest(CHAIN.clone()), path, body).1
}

fn run(data: &[u8]) -> bool {
    let mut input = Input::new(data);
    let ((path, _), options) = (input.pick(&PATHS), input.byte());
    let request = input.long_bytes();
    let answers = [input.long_bytes().to_vec(), input.long_bytes().to_vec()];
    let other = (options & HONEST == 0).then(|| input.rest().to_vec());
    let script = Arc::new(Script { path, answers, other, forwarded: Mutex::default() });
    let node = |number| {
        let script = Arc::clone(&script);
        Box::new(move |path: &str, body: &[u8]| Some(script.answer(number, path, body))) as Node
    };
    let nodes = (0..1 + usize::from(options & TWO_NODES)).map(node).collect();
    let desk = Desk::new(&CLIENT, Network::Regtest, nodes).expect("a chain");
    let (status, body) = desk.answer(path, request);
    assert_eq!(status, 200);
    if must_check(path, request, &body, &script.answers) {
        checks::answer(path, request, &body);
    }
    desk.lies().iter().for_each(checks::lie);
    for (path, body) in &*script.forwarded.lock().unwrap_or_else(PoisonError::into_inner) {
        checks::forwarded(path, body);
    }
    // The guard answers every request.
    true
}

/// Whether a guard vouches for an answer: for all but a node's that it passes on as it is.
fn must_check(path: &str, request: &[u8], body: &[u8], answers: &[Vec<u8>]) -> bool {
    let is_passed_on = match path {
        "/json_rpc" => serde_json::from_slice::<Value>(request).is_ok_and(|request| {
            request["method"].as_str().is_some_and(|method| PASSED_ON_METHODS.contains(&method))
        }),
        path => PATHS.contains(&(path, true)),
    };
    !is_passed_on || !answers.iter().any(|answer| answer == body)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_answers_that_nobody_can_verify_are_not_checked() {
        let answers = [b"first".to_vec(), b"second".to_vec()];
        let is_exempt = |path: &str, request: &[u8]| {
            assert!(must_check(path, request, b"another", &answers), "{path}");
            let exempt = answers.each_ref().map(|body| !must_check(path, request, body, &answers));
            assert_eq!(exempt[0], exempt[1], "{path}");
            exempt[0]
        };
        let paths = PATHS.map(|(path, _)| path);
        let exempt: Vec<&str> = paths.into_iter().filter(|path| is_exempt(path, b"")).collect();
        let checked = [
            "/getblocks.bin",
            "/getblocks_by_height.bin",
            "/gethashes.bin",
            "/gettransactions",
            "/json_rpc",
            "/get_info",
        ];
        assert!(exempt.iter().all(|path| !checked.contains(path)), "{exempt:?}");
        assert_eq!(exempt.len() + checked.len(), PATHS.len(), "{exempt:?}");
        let is_method_exempt = |method: &str| {
            is_exempt("/json_rpc", json!({ "method": method }).to_string().as_bytes())
        };
        for method in ["get_output_histogram", "get_output_distribution", "get_txpool_backlog"] {
            assert!(is_method_exempt(method), "{method}");
        }
        for method in ["get_block", "get_fee_estimate", "get_last_block_header", "get_info"] {
            assert!(!is_method_exempt(method), "{method}");
        }
    }
}
