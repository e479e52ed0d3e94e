//! Headers from before the blocks that the chain client keeps, on disk.
//!
//! A block's hashing blob has the id of the block before it. So each block before the client's base
//! is proven by its hash alone, from the base downwards. Blocks are kept in segments of
//! [`SEGMENT`], one file each, and read in parts of [`PART`], only as far down as a wallet asks.

mod segment;
mod sources;
mod state;
mod wants;

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use randomx_files::remove_leftovers;
use randomx_monero::Hash;
use serde_json::{Value, json};

use crate::journal::Journal;
use crate::verified::Verified;
use segment::{SEGMENT, Segment, is_segment};
pub(crate) use sources::Connect;
use sources::{PART, Sources};
use state::{State, Unfinished};

/// How long after its beginning a wallet's request waits for headers.
pub(crate) const REQUEST_PATIENCE: Duration = Duration::from_secs(20);

/// The pause after no source gave the next headers.
const PAUSE: Duration = Duration::from_secs(5);

/// Older headers.
pub(crate) struct Archive {
    folder: PathBuf,
    /// How long after its beginning a request waits for headers. Then it is refused for now.
    patience: Duration,
    state: Mutex<State>,
    /// Locked while a file is written.
    writing: Mutex<()>,
    /// Signals to the thread that reads headers that it has more to read, or has to end.
    wanted: Condvar,
    /// Signals to requests that more is proven.
    proven: Condvar,
}

/// The reason why a block is not known.
pub(crate) enum Unknown {
    /// Its header is being read.
    Awaited,
    /// It is so old that its header is only read for a scan.
    Old,
}

impl Archive {
    /// Returns the archive in a folder.
    pub(crate) fn new(folder: PathBuf, patience: Duration) -> Archive {
        let (wanted, proven) = (Condvar::new(), Condvar::new());
        let (state, writing) = (Mutex::default(), Mutex::default());
        Archive { folder, patience, state, writing, wanted, proven }
    }

    /// Removes files that a process left when it ended while it wrote. No other process may use the folder.
    pub(crate) fn remove_leftovers(&self) {
        remove_leftovers(&self.folder, is_segment);
    }

    /// Notes the block from which older ones are proven.
    pub(crate) fn set_base(&self, base: (u64, Hash)) {
        let mut state = self.lock();
        if state.base != Some(base) {
            state.base = Some(base);
            self.wanted.notify_all();
        }
    }

    /// Whether the block at a height is proven already.
    pub(crate) fn has(&self, height: u64) -> bool {
        self.lock().has(height)
    }

    /// Returns the height of the block with an id, if it is proven already, and so are all after it up to
    /// the height `base`.
    pub(crate) fn height_of(&self, id: &Hash, base: u64) -> Option<u64> {
        let candidates = {
            let state = self.lock();
            state.has(base.checked_sub(1)?).then(|| state.may_have(id))?
        };
        let found = candidates.into_iter().find_map(|index| self.segment(index)?.find(id));
        found.filter(|height| self.has(*height))
    }

    /// Requests the headers from a height on, for a scan.
    pub(crate) fn want(&self, height: u64) {
        self.lock().scan(height, Instant::now());
        self.wanted.notify_all();
    }

    /// Waits a while for the headers of all scans, for a request that began at `begun`.
    pub(crate) fn await_scans(&self, begun: Instant) -> Result<(), Unknown> {
        let end = begun + self.patience;
        let mut state = self.lock();
        while state.needs_scans(Instant::now()) {
            state = self.await_more(state, end)?;
        }
        Ok(())
    }

    /// Waits until more is proven, or the time is over.
    fn await_more<'a>(
        &self,
        state: MutexGuard<'a, State>,
        end: Instant,
    ) -> Result<MutexGuard<'a, State>, Unknown> {
        let left = end.checked_duration_since(Instant::now()).ok_or(Unknown::Awaited)?;
        Ok(self.proven.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0)
    }

    /// Returns the block at a height, for which it waits a while if it is not too old. The request began at
    /// `begun`.
    pub(crate) fn block(&self, height: u64, begun: Instant) -> Result<Verified, Unknown> {
        let end = begun + self.patience;
        let mut state = self.lock();
        while !state.has(height) {
            let now = Instant::now();
            if height < state.lowest(now) {
                return Err(Unknown::Old);
            }
            if state.want(height, now) {
                self.wanted.notify_all();
            }
            state = self.await_more(state, end)?;
        }
        drop(state);
        let block = self.segment(height / SEGMENT).and_then(|s| s.block(height).cloned());
        if block.is_none() {
            // Its file is gone, so the blocks are proven anew.
            let mut state = self.lock();
            state.proven = None;
            state.want(height, Instant::now());
            self.wanted.notify_all();
        }
        block.ok_or(Unknown::Awaited)
    }

    /// Notes that blocks of one segment from a height on are proven. [`Archive::height_of`] does not find them.
    #[cfg(test)]
    pub(crate) fn hold(&self, first: u64, blocks: Vec<Verified>) {
        let mut state = self.lock();
        state.proven = Some((first, first + blocks.len() as u64 - 1));
        state.keep(first / SEGMENT, Arc::new(Segment::new(first, blocks)));
        self.proven.notify_all();
    }

    /// Describes the archive for the status page.
    pub(crate) fn describe(&self) -> Value {
        let state = self.lock();
        json!({
            "proven": state.proven.map(|(first, last)| json!({ "first": first, "last": last })),
            "wanted": state.wanted(Instant::now()),
            "failure": state.failure,
        })
    }

    /// Fetches what wallets ask for, until [`Archive::stop`] is called.
    pub(crate) fn run(&self, sources: &[Connect], journal: &Journal) {
        let is_stopped = || self.lock().is_stopped;
        self.run_with(&mut Sources::new(sources, &is_stopped), journal);
    }

    fn run_with(&self, sources: &mut Sources<'_>, journal: &Journal) {
        while let Some((base, goal)) = self.next() {
            let Err(problem) = self.extend(base, sources) else { continue };
            let mut state = self.lock();
            if state.is_stopped {
                return;
            }
            let failure = state.failure.replace(problem.clone());
            drop(state);
            if failure.as_ref() != Some(&problem) {
                journal.log(&format!("headers from block {goal} on: {problem}"));
            }
            // Requests do not shorten it: the sources would be flooded.
            let is_running = |state: &mut State| !state.is_stopped;
            drop(self.wanted.wait_timeout_while(self.lock(), PAUSE, is_running));
        }
    }

    /// Makes [`Archive::run`] end after its present request to a source. Nothing is written to the folder any more
    /// when this returns.
    pub(crate) fn stop(&self) {
        self.lock().is_stopped = true;
        self.wanted.notify_all();
        drop(self.writing.lock());
    }

    /// Waits until something is needed that is not proven. Returns the base and the lowest height, or `None` when the
    /// archive is stopped.
    fn next(&self) -> Option<((u64, Hash), u64)> {
        let mut state = self.lock();
        while !state.is_stopped {
            if let Some(missing) = state.missing(Instant::now()) {
                return Some(missing);
            }
            state = self.wanted.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        None
    }

    /// Proves the blocks from the base down to the lowest one that is needed. Ends early, also within a segment, when no
    /// more blocks are needed. Ends after a segment when the base has moved: then the blocks below the new base are
    /// missing, and other wallets wait for them. [`Archive::join`] makes the next call go on where this one ended. Fails if
    /// headers cannot be stored: memory does not have room for all, so they would be fetched again.
    fn extend(&self, base: (u64, Hash), sources: &mut Sources<'_>) -> Result<(), String> {
        // All blocks from `next` on are proven, and so is the id of the one before it.
        let (mut next, mut id) = (base.0 + 1, base.1);
        while self.goes_on(base, next) {
            if let Some((first, previous)) = self.join(base.0, next, id) {
                (next, id) = (first, previous);
                continue;
            }
            let height = next - 1;
            let Some(segment) = self.prove((height, id), sources)? else { continue };
            let segment = Arc::new(segment);
            let Some(previous) = segment.previous() else { return Err("no headers".to_owned()) };
            let index = height / SEGMENT;
            if let Err(problem) = self.write(&segment) {
                self.lock().unwritten = Some((index, segment));
                let folder = self.folder.display();
                return Err(format!("cannot store headers in {folder}: {problem}"));
            }
            (next, id) = (index * SEGMENT, previous);
            let mut state = self.lock();
            state.unwritten = None;
            state.note_ids(index, &segment);
            state.keep(index, segment);
            if state.proven.is_none_or(|(first, _)| next <= first) {
                state.proven = Some((next, base.0));
            }
            state.failure = None;
            self.proven.notify_all();
        }
        Ok(())
    }

    /// Whether blocks before `next` are needed, and the base is still this one.
    fn goes_on(&self, base: (u64, Hash), next: u64) -> bool {
        self.lock().base == Some(base) && self.needs(next)
    }

    /// Whether blocks before `next` are needed.
    fn needs(&self, next: u64) -> bool {
        self.lock().goal(Instant::now()).is_some_and(|goal| next > goal)
    }

    /// Writes a segment to its file, unless the archive is stopped: another process may use the folder then.
    fn write(&self, segment: &Segment) -> io::Result<()> {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        if self.lock().is_stopped {
            return Err(io::Error::other("the guard has ended"));
        }
        segment.write(&self.folder)
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
                self.proven.notify_all();
                Some((first, previous))
            }
            None => {
                state.proven = None;
                None
            }
        }
    }

    /// Returns the segment that ends with a block, given by its height and its id. If a source fails, or no more blocks
    /// are needed, the parts that were read are kept, and the next call for this block goes on after them.
    fn prove(
        &self,
        last: (u64, Hash),
        sources: &mut Sources<'_>,
    ) -> Result<Option<Segment>, String> {
        let kept = self.lock().unfinished.take_if(|kept| kept.last == last);
        let mut read = kept.unwrap_or_else(|| Unfinished::new(last));
        match self.read(&mut read, sources) {
            Ok(Some(stored)) => {
                Ok(Some(read.parts.into_iter().rev().fold(stored, Segment::followed_by)))
            }
            unread => {
                self.lock().unfinished = Some(read);
                unread
            }
        }
    }

    /// Reads a segment's missing blocks, the newest first: each proves the id of the one before it. Returns
    /// the stored blocks before them, or `None` if it ended early.
    fn read(
        &self,
        read: &mut Unfinished,
        sources: &mut Sources<'_>,
    ) -> Result<Option<Segment>, String> {
        let index = read.last.0 / SEGMENT;
        let first = index * SEGMENT;
        let stored = self.segment(index);
        while read.next > first {
            let known = stored.as_ref().and_then(|known| known.ending_with(read.next - 1, read.id));
            if known.is_some() {
                return Ok(known);
            }
            // A source may take minutes for each part. A segment of which any block is needed is read whole.
            if !self.needs(read.last.0 + 1) {
                return Ok(None);
            }
            let missing = stored.as_ref().map(|stored| stored.end());
            let missing = missing.filter(|end| *end < read.next);
            let begin = missing.unwrap_or(first).max(read.next.saturating_sub(PART));
            let part = sources.fetch(begin, read.next - 1, read.id)?;
            let Some(oldest) = part.first() else { return Err("no headers".to_owned()) };
            (read.next, read.id) = (begin, oldest.blob.header.previous_id);
            read.parts.push(part);
        }
        Ok(Some(Segment::new(first, Vec::new())))
    }

    /// Returns a segment from memory or disk.
    fn segment(&self, index: u64) -> Option<Arc<Segment>> {
        if let Some(segment) = self.lock().in_memory(index) {
            return Some(segment);
        }
        let segment = Arc::new(Segment::read(&self.folder, index)?);
        Some(self.lock().keep_read(index, segment))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Each field is valid by itself after any panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
