//! A Monero node, called by JSON-RPC. Its answers are untrusted: fields have the right form, and belong
//! to the requested block, but their content still has to be verified.

mod answers;
mod rpc;

use std::time::Duration;

use serde_json::json;
use url::Url;

pub(crate) use answers::{Header, Info};
pub(crate) use rpc::NodeError;

use rpc::Rpc;

/// The most headers that public nodes return at once.
pub(crate) const MAX_HEADERS: u64 = 1000;

/// A node. Any thread may call it.
pub(crate) struct Node {
    rpc: Rpc,
}

/// A block as a node returns it.
pub(crate) struct NodeBlock {
    pub(crate) header: Header,
    /// The whole block, with no transaction but the miner's.
    pub(crate) blob: Vec<u8>,
}

impl Node {
    /// A node at an address from [`address`]. Sends nothing yet.
    pub(crate) fn new(address: &Url, timeout: Duration, retries: u32) -> Node {
        Node { rpc: Rpc::new(address, timeout, retries) }
    }

    /// Requests the node's description of itself.
    pub(crate) fn info(&self) -> Result<Info, NodeError> {
        let method = "get_info";
        self.rpc.call(method, &json!({}), answers::info)
    }

    /// Requests the header of the block at a height of the node's chain.
    pub(crate) fn header(&self, height: u64) -> Result<Header, NodeError> {
        let method = "get_block_header_by_height";
        self.rpc.call(method, &json!({ "height": height }), |json| answers::header(json, height))
    }

    /// Requests the headers from `first` to `last`, at most [`MAX_HEADERS`].
    pub(crate) fn headers(&self, first: u64, last: u64) -> Result<Vec<Header>, NodeError> {
        let method = "get_block_headers_range";
        self.rpc.call(method, &json!({ "start_height": first, "end_height": last }), |json| {
            answers::headers(json, first, last)
        })
    }

    /// Requests the block at a height of the node's chain.
    pub(crate) fn block(&self, height: u64) -> Result<NodeBlock, NodeError> {
        let method = "get_block";
        self.rpc.call(method, &json!({ "height": height }), |json| {
            let (header, blob) = answers::block(json, height)?;
            Ok(NodeBlock { header, blob })
        })
    }
}

/// Parses a node's address, such as `http://127.0.0.1:18081`.
pub(crate) fn address(text: &str) -> Result<Url, String> {
    let mut address = Url::parse(text)
        .map_err(|problem| format!("{problem}; expected something like http://127.0.0.1:18081"))?;
    if !matches!(address.scheme(), "http" | "https") {
        return Err(format!("expected http or https, got {}", address.scheme()));
    }
    if !address.username().is_empty() || address.password().is_some() {
        return Err("expected an address without a login".to_owned());
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
    fn an_address_leads_to_the_endpoint() {
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
