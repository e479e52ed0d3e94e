//! Headers from before the blocks that the chain client keeps, on disk.
//!
//! A block's hashing blob has the id of the block before it. So each block before the client's base
//! is proven by its hash alone, from the base downwards. Blocks are fetched in segments of
//! [`SEGMENT`], only as far down as a wallet asks, and kept as one file each.

mod segment;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use randomx_client::{Answer, Source};
use randomx_monero::Hash;
use randomx_monero::client::{MAX_HEADERS, Query};
use serde_json::{Value, json};

use crate::journal::Journal;
use crate::verified::Verified;
use segment::{SEGMENT, Segment};

/// The most segments in memory: 2 MB each.
const IN_MEMORY: usize = 16;

/// How long a wallet's request waits for headers.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// How many blocks below the base, or the start of the longest scan, a request may be that is not a
/// scan. It would otherwise take hours to answer a question about one old block.
const REACH: u64 = 4 * SEGMENT;

/// The pause after no source gave the next headers.
const PAUSE: Duration = Duration::from_secs(5);

/// Older headers.
pub(crate) struct Archive {
    folder: PathBuf,
    /// How long a request waits for headers before it is refused for now.
    patience: Duration,
    state: Mutex<State>,
    /// Signals that more is wanted, or known.
    changed: Condvar,
}

/// The reason why a block is not known.
pub(crate) enum Unknown {
    /// Its header is being read.
    Awaited,
    /// It is so old that its header is only read for a scan.
    Old,
}

#[derive(Default)]
struct State {
    /// The client's base.
    base: Option<(u64, Hash)>,
    /// The lowest height from which a wallet scanned.
    scanned: Option<u64>,
    /// The lowest height that a wallet asked for.
    wanted: Option<u64>,
    /// The heights whose blocks are proven, both included.
    proven: Option<(u64, u64)>,
    segments: BTreeMap<u64, Arc<Segment>>,
    /// Why the last fetch failed.
    failure: Option<String>,
}

impl Archive {
    /// Returns the archive in a folder.
    pub(crate) fn new(folder: PathBuf, patience: Duration) -> Archive {
        Archive { folder, patience, state: Mutex::default(), changed: Condvar::new() }
    }

    /// Notes the block from which older ones are proven.
    pub(crate) fn set_base(&self, base: (u64, Hash)) {
        let mut state = self.lock();
        if state.base != Some(base) {
            state.base = Some(base);
            self.changed.notify_all();
        }
    }

    /// Whether the block at a height is proven already.
    pub(crate) fn has(&self, height: u64) -> bool {
        self.lock().has(height)
    }

    /// Has the headers from a height on read, for a scan.
    pub(crate) fn want(&self, height: u64) {
        self.lock().scan(height);
        self.changed.notify_all();
    }

    /// Returns the block at a height, for which it waits a while if it is not too old.
    pub(crate) fn block(&self, height: u64) -> Result<Verified, Unknown> {
        let end = Instant::now() + self.patience;
        let mut state = self.lock();
        while !state.has(height) {
            if height < state.lowest() {
                return Err(Unknown::Old);
            }
            state.want(height);
            self.changed.notify_all();
            let left = end.checked_duration_since(Instant::now()).ok_or(Unknown::Awaited)?;
            let waited = self.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        drop(state);
        let block = self.segment(height / SEGMENT).and_then(|s| s.block(height).cloned());
        if block.is_none() {
            // Its file is gone, so the blocks are proven anew.
            self.lock().proven = None;
        }
        block.ok_or(Unknown::Awaited)
    }

    /// Describes the archive for the status page.
    pub(crate) fn describe(&self) -> Value {
        let state = self.lock();
        json!({
            "proven": state.proven.map(|(first, last)| json!({ "first": first, "last": last })),
            "wanted": state.wanted,
            "failure": state.failure,
        })
    }

    /// Fetches what wallets ask for, until the process ends.
    pub(crate) fn run(&self, sources: &[Source], journal: &Journal) {
        loop {
            let (base, goal) = self.next();
            if let Err(problem) = self.extend(base, goal, sources, journal) {
                let mut state = self.lock();
                if state.failure.as_ref() != Some(&problem) {
                    journal.log(&format!("headers from block {goal} on: {problem}"));
                }
                state.failure = Some(problem);
                let waited = self.changed.wait_timeout(state, PAUSE);
                drop(waited.unwrap_or_else(PoisonError::into_inner));
            }
        }
    }

    /// Waits until something is wanted that is not proven. Returns the base and the lowest height.
    fn next(&self) -> ((u64, Hash), u64) {
        let mut state = self.lock();
        loop {
            if let (Some(base), Some(wanted)) = (state.base, state.wanted)
                && wanted <= base.0
                && state.proven.is_none_or(|(first, last)| wanted < first || last < base.0)
            {
                return (base, wanted);
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Proves the blocks from the base down to the height `goal`.
    fn extend(
        &self,
        base: (u64, Hash),
        goal: u64,
        sources: &[Source],
        journal: &Journal,
    ) -> Result<(), String> {
        // All blocks from `next` on are proven, and so is the id of the one before it.
        let (mut next, mut id) = (base.0 + 1, base.1);
        while next > goal {
            if let Some((first, previous)) = self.join(base.0, next, id) {
                (next, id) = (first, previous);
                continue;
            }
            let height = next - 1;
            let segment = Arc::new(self.prove(height, id, sources)?);
            let Some(previous) = segment.previous() else { return Err("no headers".to_owned()) };
            if let Err(problem) = segment.write(&self.folder) {
                journal.log(&format!("cannot store headers: {problem}"));
            }
            let index = height / SEGMENT;
            (next, id) = (index * SEGMENT, previous);
            let mut state = self.lock();
            state.keep(index, segment);
            if state.proven.is_none_or(|(first, _)| next <= first) {
                state.proven = Some((next, base.0));
            }
            state.failure = None;
            self.changed.notify_all();
        }
        Ok(())
    }

    /// If the block before `next` was proven from an earlier base, joins what is proven from there.
    /// Returns the lowest proven height, and the id of the block before that.
    fn join(&self, base: u64, next: u64, id: Hash) -> Option<(u64, Hash)> {
        let (first, last) = self.lock().proven?;
        (first < next && next <= last + 1).then_some(())?;
        let known = self.segment((next - 1) / SEGMENT)?.block(next - 1)?.id == id;
        let previous = self.segment(first / SEGMENT).and_then(|segment| segment.previous());
        let mut state = self.lock();
        match previous.filter(|_| known) {
            Some(previous) => {
                state.proven = Some((first, base));
                self.changed.notify_all();
                Some((first, previous))
            }
            None => {
                state.proven = None;
                None
            }
        }
    }

    /// Returns the segment that ends with a block, with the headers that are missing on disk.
    fn prove(&self, height: u64, id: Hash, sources: &[Source]) -> Result<Segment, String> {
        let first = height / SEGMENT * SEGMENT;
        let stored = self.segment(height / SEGMENT);
        if let Some(stored) = &stored {
            if let Some(cut) = stored.ending_with(height, id) {
                return Ok(cut);
            }
            let next = first + stored.len() as u64;
            let join = |blobs: &[Vec<u8>]| stored.joined(blobs, id);
            if next <= height
                && let Ok(whole) = fetch(next, height, sources, join)
            {
                return Ok(whole);
            }
        }
        fetch(first, height, sources, |blobs| Segment::proven(first, blobs, id))
    }

    /// Returns a segment from memory or disk.
    fn segment(&self, index: u64) -> Option<Arc<Segment>> {
        if let Some(segment) = self.lock().segments.get(&index) {
            return Some(Arc::clone(segment));
        }
        let segment = Arc::new(Segment::read(&self.folder, index)?);
        self.lock().keep(index, Arc::clone(&segment));
        Some(segment)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Each field is valid by itself after any panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn has(&self, height: u64) -> bool {
        self.proven.is_some_and(|(first, last)| (first..=last).contains(&height))
    }

    fn scan(&mut self, height: u64) {
        self.scanned = Some(self.scanned.map_or(height, |scanned| scanned.min(height)));
        self.want(height);
    }

    fn want(&mut self, height: u64) {
        self.wanted = Some(self.wanted.map_or(height, |wanted| wanted.min(height)));
    }

    /// Returns the lowest height of which a request may ask that is not a scan. Such requests do not
    /// lower it: nodes can choose their heights.
    fn lowest(&self) -> u64 {
        let base = self.base.map_or(0, |(height, _)| height);
        self.scanned.unwrap_or(base).min(base).saturating_sub(REACH)
    }

    /// Keeps a segment in memory, in the place of another if there are too many.
    fn keep(&mut self, index: u64, segment: Arc<Segment>) {
        if self.segments.len() >= IN_MEMORY {
            // Wallets read upwards, so the lowest is needed least.
            self.segments.pop_first();
        }
        self.segments.insert(index, segment);
    }
}

/// Asks sources in turn for hashing blobs, until `prove` makes a segment of them.
fn fetch(
    first: u64,
    last: u64,
    sources: &[Source],
    prove: impl Fn(&[Vec<u8>]) -> Option<Segment>,
) -> Result<Segment, String> {
    let mut failure = "there is no source".to_owned();
    for source in sources {
        match fetch_from(source, first, last) {
            Ok(blobs) => match prove(&blobs) {
                Some(segment) => return Ok(segment),
                None => failure = format!("blocks {first} to {last} are not on the verified chain"),
            },
            Err(problem) => failure = problem,
        }
    }
    Err(failure)
}

fn fetch_from(source: &Source, first: u64, last: u64) -> Result<Vec<Vec<u8>>, String> {
    let mut blobs: Vec<Vec<u8>> = Vec::new();
    loop {
        let next = first + blobs.len() as u64;
        if next > last {
            return Ok(blobs);
        }
        let count = (last - next + 1).min(MAX_HEADERS);
        match source.ask(Query::Headers { first: next, count }) {
            Ok(Answer::Headers(more)) if !more.is_empty() && more.len() as u64 <= count => {
                blobs.extend(more);
            }
            Ok(_) => return Err("a source sent no headers".to_owned()),
            Err(problem) => return Err(problem.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_scan_has_very_old_headers_read() {
        let archive = Archive::new(PathBuf::new(), PATIENCE);
        let base = 100_000;
        archive.set_base((base, [0; 32]));
        assert!(matches!(archive.block(base - REACH - 1), Err(Unknown::Old)));
        assert_eq!(archive.lock().wanted, None);
        archive.want(50_000);
        assert!(matches!(archive.block(50_000 - REACH - 1), Err(Unknown::Old)));
        assert_eq!(archive.lock().wanted, Some(50_000));
    }

    #[test]
    fn other_requests_do_not_lead_further_and_further_down() {
        let archive = Archive::new(PathBuf::new(), Duration::ZERO);
        archive.set_base((100_000, [0; 32]));
        let lowest = 100_000 - REACH;
        assert!(matches!(archive.block(lowest), Err(Unknown::Awaited)));
        assert!(matches!(archive.block(lowest - 1), Err(Unknown::Old)));
        assert_eq!(archive.lock().wanted, Some(lowest));
    }
}
