//! The state of an archive: proven headers, and the heights that wallets requested.

use std::collections::BTreeMap;
use std::sync::Arc;

use randomx_monero::Hash;

use super::segment::{SEGMENT, Segment};
use crate::verified::Verified;

/// The most segments in memory: 2 MB each.
const IN_MEMORY: usize = 16;

/// How many blocks below the base, or the start of the longest scan, a request may be that is not a
/// scan. It would otherwise take hours to answer a question about one old block.
pub(super) const REACH: u64 = 4 * SEGMENT;

/// A segment that is read from its end.
pub(super) struct Unfinished {
    /// The height and the id of the segment's last block.
    pub(super) last: (u64, Hash),
    /// All blocks from this height to the last one are proven.
    pub(super) next: u64,
    /// The proven id of the block before that.
    pub(super) id: Hash,
    /// Parts of consecutive blocks, the newest part first.
    pub(super) parts: Vec<Vec<Verified>>,
}

impl Unfinished {
    /// Begins the segment that ends with a block.
    pub(super) fn new(height: u64, id: Hash) -> Unfinished {
        Unfinished { last: (height, id), next: height + 1, id, parts: Vec::new() }
    }
}

#[derive(Default)]
pub(super) struct State {
    /// The client's base.
    pub(super) base: Option<(u64, Hash)>,
    /// The lowest height from which a wallet scanned.
    scanned: Option<u64>,
    /// The lowest height that a wallet asked for.
    pub(super) wanted: Option<u64>,
    /// The heights whose blocks are proven, both included.
    pub(super) proven: Option<(u64, u64)>,
    segments: BTreeMap<u64, Arc<Segment>>,
    /// The segment that could not be written, with its index. Writing is tried again without another
    /// download.
    pub(super) unwritten: Option<(u64, Arc<Segment>)>,
    /// The part of a segment that was read before a source failed.
    pub(super) unfinished: Option<Unfinished>,
    /// The beginnings of the ids in each segment that was proven, in ascending order. All of a chain
    /// take 4 bytes for each block.
    beginnings: BTreeMap<u64, Box<[u32]>>,
    /// Why the last fetch failed.
    pub(super) failure: Option<String>,
}

impl State {
    pub(super) fn has(&self, height: u64) -> bool {
        self.proven.is_some_and(|(first, last)| (first..=last).contains(&height))
    }

    pub(super) fn scan(&mut self, height: u64) {
        self.scanned = Some(self.scanned.map_or(height, |scanned| scanned.min(height)));
        self.want(height);
    }

    /// Whether the blocks from the start of the longest scan on are proven.
    pub(super) fn is_scanned(&self) -> bool {
        self.scanned.is_none_or(|height| self.has(height))
    }

    /// Notes that a block is wanted. Returns whether it is lower than all before.
    pub(super) fn want(&mut self, height: u64) -> bool {
        let is_lower = self.wanted.is_none_or(|wanted| height < wanted);
        if is_lower {
            self.wanted = Some(height);
        }
        is_lower
    }

    /// Returns the lowest height that a request other than a scan may ask for. Such requests do not
    /// lower it: nodes can choose their heights.
    pub(super) fn lowest(&self) -> u64 {
        let base = self.base.map_or(0, |(height, _)| height);
        self.scanned.unwrap_or(base).min(base).saturating_sub(REACH)
    }

    /// Returns a segment that is in memory.
    pub(super) fn in_memory(&self, index: u64) -> Option<Arc<Segment>> {
        let unwritten = self.unwritten.as_ref().filter(|(unwritten, _)| *unwritten == index);
        unwritten.map(|(_, segment)| segment).or_else(|| self.segments.get(&index)).cloned()
    }

    /// Keeps a segment in memory, in the place of another if there are too many.
    pub(super) fn keep(&mut self, index: u64, segment: Arc<Segment>) {
        if self.segments.len() >= IN_MEMORY {
            // Wallets read upwards, so the lowest is needed least.
            self.segments.pop_first();
        }
        self.segments.insert(index, segment);
    }

    /// Notes the ids in a segment that was proven.
    pub(super) fn note_ids(&mut self, index: u64, segment: &Segment) {
        let mut beginnings: Box<[u32]> = segment.ids().map(beginning).collect();
        beginnings.sort_unstable();
        self.beginnings.insert(index, beginnings);
    }

    /// Returns the segments that may have the block with an id.
    pub(super) fn may_have(&self, id: &Hash) -> Vec<u64> {
        let may_have = |ids: &[u32]| ids.binary_search(&beginning(id)).is_ok();
        let found = self.beginnings.iter().filter(|(_, ids)| may_have(ids));
        found.map(|(index, _)| *index).collect()
    }
}

fn beginning(id: &Hash) -> u32 {
    u32::from_le_bytes([id[0], id[1], id[2], id[3]])
}
