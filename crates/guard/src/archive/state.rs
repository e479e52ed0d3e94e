//! The state of an archive: proven headers, and the heights that wallets requested.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use randomx_monero::Hash;

use super::segment::{SEGMENT, Segment};
use super::wants::Wants;
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
    /// Begins the segment that ends with a block, given by its height and its id.
    pub(super) fn new(last: (u64, Hash)) -> Unfinished {
        Unfinished { last, next: last.0 + 1, id: last.1, parts: Vec::new() }
    }
}

#[derive(Default)]
pub(super) struct State {
    /// The client's base.
    pub(super) base: Option<(u64, Hash)>,
    /// The lowest height from which a wallet scanned whose header was proven by then.
    scanned: Option<u64>,
    /// The scans that need more headers.
    scans: Wants,
    /// All requests that need more headers.
    wanted: Wants,
    /// The heights whose blocks are proven, both included.
    pub(super) proven: Option<(u64, u64)>,
    /// Segments in memory with their indices. The one that was used last is at the end.
    segments: Vec<(u64, Arc<Segment>)>,
    /// The segment that could not be written, with its index. Writing is tried again without another
    /// download.
    pub(super) unwritten: Option<(u64, Arc<Segment>)>,
    /// The part of a segment that was read before a source failed, or reading ended early.
    pub(super) unfinished: Option<Unfinished>,
    /// The beginnings of the ids in each segment that was proven, in ascending order. All of a chain
    /// take 4 bytes for each block.
    beginnings: BTreeMap<u64, Box<[u32]>>,
    /// Why the last fetch failed.
    pub(super) failure: Option<String>,
    /// Whether the guard was dropped.
    pub(super) is_stopped: bool,
}

impl State {
    pub(super) fn has(&self, height: u64) -> bool {
        self.proven.is_some_and(|(first, last)| (first..=last).contains(&height))
    }

    /// Notes a scan from a height on.
    pub(super) fn scan(&mut self, height: u64, now: Instant) {
        if self.has(height) {
            self.scanned = Some(self.scanned.map_or(height, |scanned| scanned.min(height)));
        } else {
            self.scans.note(height, now);
            self.wanted.note(height, now);
        }
    }

    /// Notes that a request waits for the headers of all scans. Returns false if all are proven.
    pub(super) fn needs_scans(&mut self, now: Instant) -> bool {
        let missing = self.scans.lowest(now).filter(|height| !self.has(*height));
        let Some(height) = missing else { return false };
        self.scan(height, now);
        true
    }

    /// Notes that a block is wanted. Returns whether it is lower than all that others want.
    pub(super) fn want(&mut self, height: u64, now: Instant) -> bool {
        let is_lower = self.wanted(now).is_none_or(|wanted| height < wanted);
        self.wanted.note(height, now);
        is_lower
    }

    /// Returns the lowest height that a request needs.
    pub(super) fn wanted(&self, now: Instant) -> Option<u64> {
        self.wanted.lowest(now)
    }

    /// Returns the height down to which headers are read. What is proven stays so when the base moves.
    pub(super) fn goal(&self, now: Instant) -> Option<u64> {
        let proven = self.proven.map(|(first, _)| first);
        self.wanted(now).into_iter().chain(proven).min()
    }

    /// Returns the base, and the height down to which headers are read, unless all of these are proven.
    pub(super) fn missing(&mut self, now: Instant) -> Option<((u64, Hash), u64)> {
        let is_missing = |goal: u64, base: u64| {
            goal <= base && self.proven.is_none_or(|(first, last)| goal < first || last < base)
        };
        let missing = self.base.zip(self.goal(now));
        let missing = missing.filter(|((base, _), goal)| is_missing(*goal, *base));
        if missing.is_none() {
            // It no longer matters.
            self.failure = None;
        }
        missing
    }

    /// Returns the lowest height that a request other than a scan may ask for. Such requests do not
    /// lower it: nodes can choose their heights.
    pub(super) fn lowest(&self, now: Instant) -> u64 {
        let base = self.base.map_or(0, |(height, _)| height);
        let scans = self.scanned.into_iter().chain(self.scans.lowest(now));
        scans.min().unwrap_or(base).min(base).saturating_sub(REACH)
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

    /// Keeps a segment that was read from its file, unless another thread has kept one meanwhile: the file may have been
    /// replaced since. Returns the one in memory.
    pub(super) fn keep_read(&mut self, index: u64, segment: Arc<Segment>) -> Arc<Segment> {
        self.in_memory(index).unwrap_or_else(|| {
            self.keep(index, Arc::clone(&segment));
            segment
        })
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
    use randomx_monero::Block;
    use randomx_testing::blocks::block_with;

    use super::super::wants::COUNTS;
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

    #[test]
    fn an_older_copy_of_a_segment_takes_no_newer_ones_place() {
        let mut state = State::default();
        let block = Block::parse(&block_with(1, 1, &[0; 32], 0, 1, &[])).expect("a block");
        let (id, blob) = (block.id(), block.hashing_blob().clone());
        let verified = Verified { id, blob, work: None };
        let segment = |count| Arc::new(Segment::new(0, vec![verified.clone(); count]));
        // A thread reads the file, which is replaced before the thread keeps what it has read.
        let older = segment(1);
        state.keep(0, segment(2));
        assert_eq!(state.keep_read(0, older).end(), 2);
        assert_eq!(state.in_memory(0).map(|kept| kept.end()), Some(2));
        // The newer one could not be written.
        state.unwritten = Some((1, segment(4)));
        assert_eq!(state.keep_read(1, segment(3)).end(), 4);
        assert_eq!(state.keep_read(2, segment(5)).end(), 5);
        assert_eq!(state.in_memory(2).map(|kept| kept.end()), Some(5));
    }

    #[test]
    fn a_scan_that_nobody_repeats_is_forgotten() {
        let (mut state, begun) = (State::default(), Instant::now());
        let later = begun + 2 * COUNTS;
        state.base = Some((100_000, [0; 32]));
        state.scan(1, begun);
        state.failure = Some("a problem".to_owned());
        assert_eq!((state.goal(begun), state.lowest(begun)), (Some(1), 0));
        assert!(state.needs_scans(begun + COUNTS));
        assert_eq!(state.goal(begun + COUNTS * 3 / 2), Some(1), "a request waited for it");
        assert!(state.missing(begun + COUNTS * 3 / 2).is_some() && state.failure.is_some());
        state.proven = Some((90_000, 100_000));
        state.scan(95_000, later);
        let after = later + COUNTS / 2;
        assert_eq!((state.goal(after), state.lowest(after)), (Some(90_000), 95_000 - REACH));
        assert!(!state.needs_scans(after));
        assert!(state.missing(after).is_none() && state.failure.is_none());
        // A scan whose headers were proven counts in the whole run.
        assert_eq!(state.lowest(later + 2 * COUNTS), 95_000 - REACH);
        assert_eq!(state.wanted(after), None);
    }
}
