//! Sources of headers: nodes and relays.

use randomx_monero::client::Query;
use randomx_monero::{Block, BlockError};
use thiserror::Error;
use url::Url;

use crate::agent::Route;
use crate::answer::{Answer, has_unknown_version};
use crate::node::{self, Node, NodeError};
use crate::relay::{RelayClient, RelayClientError};

/// The bytes that contain the version of a block, and are too few for a hashing blob.
const BEGINNING: usize = 10;

/// A source of headers. Nothing that it answers is trusted.
pub enum Source {
    /// A Monero node.
    Node(Node),
    /// A relay, such as [`Relay`](crate::Relay) serves.
    Relay(RelayClient),
}

impl Source {
    /// Returns the node at an address that [`node::address`] has parsed.
    pub fn node(route: &Route, address: &Url) -> Source {
        // The client repeats requests by itself.
        Source::Node(Node::new(route, address, 0))
    }

    /// Returns the relay at an address.
    pub fn relay(route: &Route, address: &Url) -> Source {
        Source::Relay(RelayClient::new(route, address))
    }

    /// Asks a question.
    ///
    /// # Errors
    ///
    /// If there is no usable answer.
    pub fn ask(&self, query: Query) -> Result<Answer, SourceError> {
        match self {
            Source::Node(node) => ask_node(node, query),
            Source::Relay(relay) => Ok(relay.ask(query)?),
        }
    }
}

fn ask_node(node: &Node, query: Query) -> Result<Answer, SourceError> {
    match query {
        Query::Tip => {
            let info = node.info()?;
            let height = info.height.checked_sub(1).ok_or(SourceError::NoBlocks)?;
            let id = match info.top_block_hash {
                Some(id) => id,
                None => node.header(height)?.id,
            };
            Ok(Answer::Tip(height, id))
        }
        Query::Headers { first, count } => {
            let last = first.saturating_add(count.saturating_sub(1));
            let blob = |block: node::NodeBlock| Ok::<_, SourceError>(hashing_blob(&block.blob)?);
            match node::fetch(node, first..=last, blob) {
                (blobs, Some(failure)) if blobs.is_empty() => Err(failure),
                (blobs, _) => Ok(Answer::Headers(blobs)),
            }
        }
        Query::Difficulties { first, count } => {
            let last = first.saturating_add(count.saturating_sub(1));
            let headers = node.headers(first, last)?;
            Ok(Answer::Difficulties(headers.iter().map(|header| header.difficulty).collect()))
        }
    }
}

/// Returns the hashing blob of a block. Of one whose version is unknown and that cannot be parsed,
/// returns the beginning, from which the client sees the version.
fn hashing_blob(block: &[u8]) -> Result<Vec<u8>, BlockError> {
    match Block::parse(block) {
        Ok(parsed) => Ok(parsed.hashing_blob().as_bytes().to_vec()),
        Err(_) if has_unknown_version(block) => Ok(block.iter().copied().take(BEGINNING).collect()),
        Err(problem) => Err(problem),
    }
}

/// The reason why a source gave no usable answer.
#[derive(Debug, Error)]
pub enum SourceError {
    /// A node's failure.
    #[error(transparent)]
    Node(#[from] NodeError),
    /// A relay's failure.
    #[error(transparent)]
    Relay(#[from] RelayClientError),
    /// A block cannot be parsed.
    #[error("get_block: {0}")]
    Block(#[from] BlockError),
    /// The node has not even the genesis block.
    #[error("get_info: height: expected 1 or more, got 0")]
    NoBlocks,
    /// The request panicked.
    #[error("internal error: the request panicked; please report this")]
    Panicked,
}
