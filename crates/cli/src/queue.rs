//! The jobs of a run that were read and not yet answered: a bounded window over the input, sorted
//! by key.
//!
//! One thread pushes jobs. Those that hash take the waiting jobs of one key, in whatever order the
//! keys come, so that alternating keys do not fill a cache for each job. The window bounds the
//! memory of a run over any length of input.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use randomx::{
    Version,
    spread::{Source, piece_size},
};

use crate::error::Error;

/// An input to hash. `tag` comes back with its hash.
pub(crate) struct Job<T> {
    pub(crate) key: Vec<u8>,
    pub(crate) version: Version,
    pub(crate) input: Vec<u8>,
    pub(crate) tag: T,
}

/// How much is read ahead of the first job without an answer.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) jobs: u64,
    /// Bytes of keys and inputs.
    pub(crate) bytes: usize,
}

/// A job of a known key that was taken out of a queue.
pub(crate) struct Numbered<T> {
    /// How many jobs came before it.
    pub(crate) number: u64,
    /// Its bytes in the window.
    pub(crate) bytes: usize,
    pub(crate) input: Vec<u8>,
    pub(crate) tag: T,
}

/// Jobs on their way from one thread that pushes them to those that hash.
pub(crate) struct Queue<T> {
    limits: Limits,
    state: Mutex<State<T>>,
    changed: Condvar,
}

struct State<T> {
    /// The jobs that wait, by key. A key without jobs has no entry.
    waiting: HashMap<Arc<[u8]>, Waiting<T>>,
    waiting_jobs: usize,
    pushed: u64,
    answered: u64,
    /// Bytes of the jobs without an answer.
    bytes: usize,
    /// Set when no more jobs will be pushed, with the reason if that is an error.
    end: Option<Option<Error>>,
    closed: bool,
}

/// The waiting jobs of one key, by version: a VM hashes one version at a time.
struct Waiting<T>([VecDeque<Numbered<T>>; Version::ALL.len()]);

impl<T> Queue<T> {
    pub(crate) fn new(limits: Limits) -> Queue<T> {
        let state = State {
            waiting: HashMap::new(),
            waiting_jobs: 0,
            pushed: 0,
            answered: 0,
            bytes: 0,
            end: None,
            closed: false,
        };
        Queue { limits, state: Mutex::new(state), changed: Condvar::new() }
    }

    /// A queue that holds all its jobs.
    pub(crate) fn of(jobs: impl IntoIterator<Item = Job<T>>) -> Queue<T> {
        let queue = Queue::new(Limits { jobs: u64::MAX, bytes: usize::MAX });
        jobs.into_iter().for_each(|job| queue.push(job));
        queue.end(None);
        queue
    }

    /// Adds a job. Waits while the window is full; a job of any size fits into an empty one.
    pub(crate) fn push(&self, job: Job<T>) {
        let Job { key, version, input, tag } = job;
        let bytes = key.len() + input.len();
        let full = |state: &mut State<T>| {
            let jobs = state.pushed - state.answered;
            let too_large = state.bytes.saturating_add(bytes) > self.limits.bytes;
            !state.closed && jobs > 0 && (jobs >= self.limits.jobs || too_large)
        };
        let state = self.changed.wait_while(self.lock(), full);
        let mut state = state.unwrap_or_else(PoisonError::into_inner);
        if state.closed {
            return;
        }
        let number = state.pushed;
        state.pushed += 1;
        state.bytes += bytes;
        state.waiting_jobs += 1;
        let jobs = match state.waiting.get_mut(&*key) {
            Some(jobs) => jobs,
            None => state.waiting.entry(key.into()).or_default(),
        };
        jobs.0[version as usize].push_back(Numbered { number, bytes, input, tag });
        drop(state);
        self.changed.notify_all();
    }

    /// Ends the input; `problem` is the error that ended it, if any.
    pub(crate) fn end(&self, problem: Option<Error>) {
        self.lock().end = Some(problem);
        self.changed.notify_all();
    }

    /// Waits for a job, and returns the key of the oldest one that waits. At the end of the jobs it
    /// returns `None`, or the error that ended them.
    pub(crate) fn oldest_key(&self) -> Result<Option<Arc<[u8]>>, Error> {
        let nothing =
            |state: &mut State<T>| state.waiting_jobs == 0 && state.end.is_none() && !state.closed;
        let state = self.changed.wait_while(self.lock(), nothing);
        let mut state = state.unwrap_or_else(PoisonError::into_inner);
        if let Some(key) = state.oldest_key() {
            return Ok(Some(Arc::clone(key)));
        }
        state.end.take().flatten().map_or(Ok(None), Err)
    }

    /// Removes answered jobs from the window, which makes room for more.
    pub(crate) fn answered(&self, jobs: u64, bytes: usize) {
        let mut state = self.lock();
        state.answered += jobs;
        state.bytes -= bytes;
        drop(state);
        self.changed.notify_all();
    }

    /// Drops the jobs that wait and those that are pushed from now on.
    pub(crate) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        state.waiting.clear();
        state.waiting_jobs = 0;
        drop(state);
        self.changed.notify_all();
    }

    /// Whether the queue was closed.
    pub(crate) fn is_closed(&self) -> bool {
        self.lock().closed
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        // After a panic elsewhere the state is whole: nothing in here panics.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> State<T> {
    fn oldest_key(&self) -> Option<&Arc<[u8]>> {
        let oldest = self.waiting.iter().min_by_key(|(_, jobs)| jobs.oldest().0);
        oldest.map(|(key, _)| key)
    }

    /// Takes jobs of a key and one version; `size` says how many of those that wait.
    fn take(
        &mut self,
        key: &[u8],
        size: impl Fn(usize) -> usize,
    ) -> Option<(Version, Vec<Numbered<T>>)> {
        let jobs = self.waiting.get_mut(key)?;
        let (_, version) = jobs.oldest();
        let count = size(jobs.0[version as usize].len());
        let taken: Vec<_> = jobs.0[version as usize].drain(..count).collect();
        if jobs.len() == 0 {
            self.waiting.remove(key);
        }
        self.waiting_jobs -= taken.len();
        Some((version, taken))
    }
}

impl<T> Waiting<T> {
    fn len(&self) -> usize {
        self.0.iter().map(VecDeque::len).sum()
    }

    /// The number and the version of the oldest job.
    fn oldest(&self) -> (u64, Version) {
        let first = |version: Version| self.0[version as usize].front().map(|job| job.number);
        let numbers = Version::ALL.map(|version| (first(version).unwrap_or(u64::MAX), version));
        numbers.into_iter().min_by_key(|(number, _)| *number).unwrap_or_default()
    }
}

impl<T> Default for Waiting<T> {
    fn default() -> Waiting<T> {
        Waiting([const { VecDeque::new() }; Version::ALL.len()])
    }
}

/// The part of a run in which the jobs of one key are hashed. It ends when only jobs of other keys
/// wait.
pub(crate) struct Turn<'a, T> {
    pub(crate) queue: &'a Queue<T>,
    pub(crate) key: Arc<[u8]>,
    /// After this instant an older job of another key ends the turn.
    pub(crate) until: Instant,
    pub(crate) threads: usize,
    pub(crate) lanes: usize,
}

impl<T: Send> Source for Turn<'_, T> {
    type Piece = (Version, Vec<Numbered<T>>);

    fn next(&self, free: usize) -> Option<Self::Piece> {
        // The turn lasts while the input pauses: the next job may have the same key.
        let pauses =
            |state: &mut State<T>| state.waiting_jobs == 0 && state.end.is_none() && !state.closed;
        let state = self.queue.changed.wait_while(self.queue.lock(), pauses);
        let mut state = state.unwrap_or_else(PoisonError::into_inner);
        let own_only = state.waiting.len() == 1;
        if !own_only && Instant::now() >= self.until && state.oldest_key() != Some(&self.key) {
            return None;
        }
        state.take(&self.key, |left| piece_size(left, free, self.threads, self.lanes))
    }

    fn close(&self) {
        self.queue.close();
    }
}

#[cfg(test)]
mod tests;
