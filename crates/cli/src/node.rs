//! A Monero node, asked over its JSON-RPC. Nothing that it answers is known to be true: every
//! field has the form that it should have, and belongs to the block that was asked for.

mod answers;
mod rpc;

use std::time::Duration;

use serde_json::json;
use url::Url;

pub(crate) use answers::{Header, Info};
pub(crate) use rpc::NodeError;

use rpc::Rpc;

/// The most headers that nodes for the public give at once.
pub(crate) const MAX_HEADERS: u64 = 1000;

/// A node, any thread's to ask.
pub(crate) struct Node {
    rpc: Rpc,
}

/// A block as a node gives it.
pub(crate) struct NodeBlock {
    pub(crate) header: Header,
    /// The whole block, without the transactions but the miner's.
    pub(crate) blob: Vec<u8>,
}

impl Node {
    /// A node at an address, which [`address`] has checked. Nothing is sent yet.
    pub(crate) fn new(address: &Url, timeout: Duration, retries: u32) -> Node {
        Node { rpc: Rpc::new(address, timeout, retries) }
    }

    /// What the node says of itself.
    pub(crate) fn info(&self) -> Result<Info, NodeError> {
        let method = "get_info";
        self.rpc.call(method, &json!({}), answers::info)
    }

    /// The header of the block at a height of the node's chain.
    pub(crate) fn header(&self, height: u64) -> Result<Header, NodeError> {
        let method = "get_block_header_by_height";
        self.rpc.call(method, &json!({ "height": height }), |json| answers::header(json, height))
    }

    /// The headers from `first` to `last`, at most [`MAX_HEADERS`].
    pub(crate) fn headers(&self, first: u64, last: u64) -> Result<Vec<Header>, NodeError> {
        let method = "get_block_headers_range";
        self.rpc.call(method, &json!({ "start_height": first, "end_height": last }), |json| {
            answers::headers(json, first, last)
        })
    }

    /// The block at a height of the node's chain.
    pub(crate) fn block(&self, height: u64) -> Result<NodeBlock, NodeError> {
        let method = "get_block";
        self.rpc.call(method, &json!({ "height": height }), |json| {
            let (header, blob) = answers::block(json, height)?;
            Ok(NodeBlock { header, blob })
        })
    }
}

/// Reads a node's address, such as `http://127.0.0.1:18081`.
pub(crate) fn address(text: &str) -> Result<Url, String> {
    let mut address = Url::parse(text)
        .map_err(|problem| format!("{problem}; expected something like http://127.0.0.1:18081"))?;
    if !matches!(address.scheme(), "http" | "https") {
        return Err(format!("expected http or https, got {}", address.scheme()));
    }
    if !address.username().is_empty() || address.password().is_some() {
        return Err("a login in the address is not supported".to_owned());
    }
    address.set_query(None);
    address.set_fragment(None);
    let path = address.path().trim_end_matches('/').trim_end_matches("/json_rpc").to_owned();
    address.set_path(&format!("{path}/json_rpc"));
    Ok(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_that_of_the_endpoint() {
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
            ("http://me:secret@node.example", "a login in the address is not supported"),
        ] {
            let error = address(text).expect_err(text);
            assert!(error.starts_with(sentence), "{error}");
        }
    }
}
