//! A part of a node's chain.

use std::{
    ops::RangeInclusive,
    sync::atomic::{AtomicU64, Ordering},
};

use randomx_monero::{Candidate, Difficulty, Link, Network, Status, examine};

use crate::{
    backend::Hash,
    node::{self, Header, Node, NodeBlock, NodeError},
};

/// Consecutive blocks, up to the first that is refused by itself or could not be read.
pub(super) struct Part {
    first: u64,
    pub(super) blocks: Vec<Given>,
    pub(super) failure: Option<NodeError>,
}

/// A block, and the node's statements about it.
pub(super) struct Given {
    pub(super) header: Header,
    content: Content,
}

enum Content {
    /// All that is needed of a block that is sound by itself.
    HashingBlob(Vec<u8>),
    /// A block that is refused whatever comes before it.
    Refused(Vec<u8>),
    /// A block after a refused one.
    Unread,
}

impl Part {
    /// Reads the blocks of some heights.
    pub(super) fn fetch(node: &Node, heights: RangeInclusive<u64>, network: Network) -> Part {
        let (first, refused) = (*heights.start(), AtomicU64::new(u64::MAX));
        let take = |block| Ok(Given::new(block, network, &refused));
        let (mut blocks, failure) = node::fetch(node, heights, take);
        let last =
            blocks.iter().position(|given| !matches!(given.content, Content::HashingBlob(_)));
        if let Some(last) = last {
            blocks.truncate(last + 1);
        }
        Part { first, blocks, failure }
    }

    /// Returns the id that the node has stated for a block of the part.
    pub(super) fn id(&self, height: u64) -> Option<Hash> {
        let index = usize::try_from(height.checked_sub(self.first)?).ok()?;
        self.blocks.get(index).map(|given| given.header.id)
    }

    /// Returns the height of the block after the part.
    pub(super) fn next_height(&self) -> u64 {
        self.first + self.blocks.len() as u64
    }
}

impl Given {
    /// Keeps the needed parts of a block. Blocks can be large, so only the lowest one that is refused is kept as a
    /// whole. Its height is `refused`.
    fn new(block: NodeBlock, network: Network, refused: &AtomicU64) -> Given {
        let NodeBlock { header, blob } = block;
        if header.height > refused.load(Ordering::Relaxed) {
            return Given { header, content: Content::Unread };
        }
        let candidate = Candidate {
            block: Some(&blob),
            id: Some(header.id),
            height: Some(header.height),
            ..Candidate::default()
        };
        let examination = examine(&candidate, network);
        let sound = Status::of(&examination.checks).is_accepted();
        let content = match examination.hashing_blob.filter(|_| sound) {
            Some(hashing_blob) => Content::HashingBlob(hashing_blob.as_bytes().to_vec()),
            None => {
                refused.fetch_min(header.height, Ordering::Relaxed);
                Content::Refused(blob)
            }
        };
        Given { header, content }
    }

    /// Returns the hashing blob, unless the block is refused.
    pub(super) fn hashing_blob(&self) -> Option<&[u8]> {
        match &self.content {
            Content::HashingBlob(blob) => Some(blob),
            Content::Refused(_) | Content::Unread => None,
        }
    }

    /// Returns the block with the node's claims about it.
    pub(super) fn link(&self) -> Link<'_> {
        let Given { header, content } = self;
        let (block, hashing_blob) = match content {
            Content::HashingBlob(blob) => (None, Some(blob.as_slice())),
            Content::Refused(blob) => (Some(blob.as_slice()), None),
            Content::Unread => (None, None),
        };
        let (id, height) = (Some(header.id), Some(header.height));
        Link {
            block: Candidate { block, hashing_blob, id, height },
            difficulty: Difficulty::try_from(header.difficulty).ok(),
            ..Link::default()
        }
    }
}
