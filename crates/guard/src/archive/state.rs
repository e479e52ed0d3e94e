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
    /// Segments in memory with their indices. The one that was used last is at the end.
    segments: Vec<(u64, Arc<Segment>)>,
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
    pub(super) fn in_memory(&mut self, index: u64) -> Option<Arc<Segment>> {
        let unwritten = self.unwritten.as_ref().filter(|(unwritten, _)| *unwritten == index);
        if let Some((_, segment)) = unwritten {
            return Some(Arc::clone(segment));
        }
        let place = self.segments.iter().position(|(other, _)| *other == index)?;
        self.segments[place..].rotate_left(1);
        self.segments.last().map(|(_, segment)| Arc::clone(segment))
    }

    /// Keeps a segment in memory, in the place of the one that was not used for the longest time if there are too
    /// many.
    pub(super) fn keep(&mut self, index: u64, segment: Arc<Segment>) {
        self.segments.retain(|(other, _)| *other != index);
        if self.segments.len() >= IN_MEMORY {
            self.segments.remove(0);
        }
        self.segments.push((index, segment));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_that_are_used_stay_in_memory() {
        let mut state = State::default();
        let segment = |index| Arc::new(Segment::new(index * SEGMENT, Vec::new()));
        let newest = 100..100 + IN_MEMORY as u64;
        newest.clone().for_each(|index| state.keep(index, segment(index)));
        // Two wallets, at heights below those.
        for index in [1, 50] {
            assert!(state.in_memory(index).is_none());
            state.keep(index, segment(index));
        }
        for index in newest.take(IN_MEMORY - 2) {
            state.keep(index, segment(index));
            for used in [1, 50] {
                assert_eq!(state.in_memory(used).map(|used| used.end()), Some(used * SEGMENT));
            }
        }
        assert_eq!(state.segments.len(), IN_MEMORY);
        // Kept again, as when another thread read it too.
        state.keep(1, segment(1));
        assert_eq!(state.segments.len(), IN_MEMORY);
    }
}
