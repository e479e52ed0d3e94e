//! A Monero node, through its JSON-RPC. Answers are not trusted: each field is checked for its form,
//! and each block for the requested height.

mod answers;
mod fetch;
#[cfg(test)]
mod greedy;
#[cfg(feature = "internals")]
pub(crate) mod internals;
mod rpc;

use std::time::Duration;

use serde_json::json;
use url::Url;

pub use answers::{FieldError, Header, Info};
pub use fetch::fetch;
pub use rpc::NodeError;

use crate::address::http_address;
use crate::agent::Route;
use rpc::{HEADER, MAX_ANSWER, Rpc, SMALL};

/// The most headers that public nodes give at once.
pub const MAX_HEADERS: u64 = 1000;

/// A node. Any thread can call it.
pub struct Node {
    rpc: Rpc,
}

/// A block with its header, as a node gives it.
pub struct NodeBlock {
    /// The header.
    pub header: Header,
    /// The block blob: with the miner's transaction, and the hashes of the others.
    pub blob: Vec<u8>,
}

impl Node {
    /// Returns a node at an address that [`address`] has parsed. Sends nothing yet.
    ///
    /// An attempt may take the route's timeout, from the request to the last byte.
    pub fn new(route: &Route, address: &Url, retries: u32) -> Node {
        Node { rpc: Rpc::new(route, address, retries) }
    }

    /// Returns the time that an attempt may take.
    pub fn timeout(&self) -> Duration {
        self.rpc.timeout()
    }

    /// Asks for the state of the node.
    ///
    /// # Errors
    ///
    /// If there is no usable answer.
    pub fn info(&self) -> Result<Info, NodeError> {
        let method = "get_info";
        self.rpc.call(method, &json!({}), SMALL, answers::info)
    }

    /// Asks for the header at a height.
    ///
    /// # Errors
    ///
    /// If there is no usable answer.
    pub fn header(&self, height: u64) -> Result<Header, NodeError> {
        let method = "get_block_header_by_height";
        self.rpc
            .call(method, &json!({ "height": height }), SMALL, |json| answers::header(json, height))
    }

    /// Asks for the headers from `first` to `last`, at most [`MAX_HEADERS`].
    ///
    /// # Errors
    ///
    /// If there is no usable answer.
    pub fn headers(&self, first: u64, last: u64) -> Result<Vec<Header>, NodeError> {
        let method = "get_block_headers_range";
        let limit = SMALL + HEADER.saturating_mul(last.saturating_sub(first) + 1);
        let params = json!({ "start_height": first, "end_height": last });
        self.rpc.call(method, &params, limit, |json| answers::headers(json, first, last))
    }

    /// Asks for the block at a height.
    ///
    /// # Errors
    ///
    /// If there is no usable answer.
    pub fn block(&self, height: u64) -> Result<NodeBlock, NodeError> {
        let method = "get_block";
        self.rpc.call(method, &json!({ "height": height }), MAX_ANSWER, |json| {
            let (header, blob) = answers::block(json, height)?;
            Ok(NodeBlock { header, blob })
        })
    }
}

/// Parses a node's address, such as `http://127.0.0.1:18081`, into that of its JSON-RPC endpoint.
///
/// # Errors
///
/// If the text is not the address of an HTTP server without a login.
pub fn address(text: &str) -> Result<Url, String> {
    let mut address = http_address(text, "http://127.0.0.1:18081")?;
    let path = address.path().trim_end_matches('/').trim_end_matches("/json_rpc").to_owned();
    address.set_path(&format!("{path}/json_rpc"));
    Ok(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_become_those_of_the_endpoint() {
        for (text, endpoint) in [
            ("http://127.0.0.1:18081", "http://127.0.0.1:18081/json_rpc"),
            ("http://127.0.0.1:18081/", "http://127.0.0.1:18081/json_rpc"),
            ("https://node.example/xmr/?a#b", "https://node.example/xmr/json_rpc"),
            ("http://[::1]:1/json_rpc", "http://[::1]:1/json_rpc"),
        ] {
            assert_eq!(address(text).map(String::from), Ok(endpoint.to_owned()));
        }
        for (text, sentence) in [
            ("127.0.0.1:18081", "relative URL without a base"),
            ("", "relative URL without a base"),
            ("file:///etc/passwd", "expected http or https, got file"),
            ("http://me:secret@node.example", "expected an address without a login"),
        ] {
            let error = address(text).expect_err(text);
            assert!(error.starts_with(sentence), "{error}");
        }
    }
}
