//! The loop around a client: threads for sources and hashes, and the store.

use std::collections::HashMap;
use std::panic::{self, AssertUnwindSafe};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use randomx_monero::Hash;
use randomx_monero::client::{
    Action, Client, Config, Event, JobId, Query, Report, RequestId, SourceId, Start, StartError,
};
use thiserror::Error;

use crate::answer::Answer;
use crate::hasher::{HashError, Hasher};
use crate::source::{Source, SourceError};
use crate::store::{Store, StoreFileError};

/// The time between two ticks of the client's clock.
const TICK: Duration = Duration::from_secs(1);

/// Follows a chain. Sources and hashes have their own threads, which end with the follower after
/// their current work.
pub struct Follower {
    client: Client,
    store: Option<Store>,
    sources: Vec<Sender<(RequestId, Query)>>,
    hasher: Sender<Job>,
    events: Receiver<Happening>,
    /// The last failure of each source whose last answer was not usable, for the user.
    failures: HashMap<SourceId, String>,
    /// The last failure of the hasher.
    hash_failure: Option<HashError>,
    /// The newest state, if it could not be stored.
    unstored: Option<Vec<u8>>,
}

struct Job {
    id: JobId,
    key: Hash,
    input: Vec<u8>,
    fresh: bool,
}

enum Happening {
    Answer(SourceId, RequestId, Result<Answer, SourceError>),
    Hashed(JobId, Result<Hash, String>),
}

impl Follower {
    /// Begins to follow with the state in `store`, or else from `start`.
    ///
    /// # Errors
    ///
    /// If the stored state is refused, there are too many sources, or threads cannot be started.
    pub fn new(
        config: Config,
        start: Start,
        sources: Vec<Source>,
        hasher: impl Hasher + 'static,
        store: Option<Store>,
    ) -> Result<Follower, FollowerError> {
        let stored = store.as_ref().map(Store::read).transpose()?.flatten();
        let mut client = Client::new(config, stored.map_or(start, Start::Stored))?;
        let (events, received) = mpsc::channel();
        let given = sources.len();
        let mut senders = Vec::with_capacity(given);
        for source in sources {
            let id = client.add_source().ok_or(FollowerError::TooManySources { given })?;
            let (sender, requests) = mpsc::channel();
            let events = events.clone();
            spawn(move || serve_source(id, |query| source.ask(query), &requests, &events))?;
            senders.push(sender);
        }
        let (jobs, waiting) = mpsc::channel();
        spawn(move || serve_hashes(hasher, &waiting, &events))?;
        Ok(Follower {
            client,
            store,
            sources: senders,
            hasher: jobs,
            events: received,
            failures: HashMap::new(),
            hash_failure: None,
            unstored: None,
        })
    }

    /// Returns the client.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Returns why a source's last answer was not usable.
    pub fn failure(&self, source: SourceId) -> Option<&str> {
        self.failures.get(&source).map(String::as_str)
    }

    /// Returns why a hash could last not be computed.
    pub fn hash_failure(&self) -> Option<&HashError> {
        self.hash_failure.as_ref()
    }

    /// Waits for something to happen, a second at most, and returns what is to be reported then.
    ///
    /// The second value is an error if the state cannot be stored or a thread has ended. The reports are then those from
    /// before the error, and the client may have a newer state than the store. The next step tries again to store it.
    pub fn step(&mut self) -> (Vec<Report>, Result<(), FollowerError>) {
        let mut reports = Vec::new();
        let outcome = self.advance(&mut reports).and_then(|()| self.store());
        (reports, outcome)
    }

    fn advance(&mut self, reports: &mut Vec<Report>) -> Result<(), FollowerError> {
        self.feed(Event::Tick, reports)?;
        match self.events.recv_timeout(TICK) {
            Ok(happening) => {
                let event = self.event(happening);
                self.feed(event, reports)?;
                while let Ok(happening) = self.events.try_recv() {
                    let event = self.event(happening);
                    self.feed(event, reports)?;
                }
                Ok(())
            }
            Err(RecvTimeoutError::Timeout) => Ok(()),
            // Only if all threads have ended.
            Err(RecvTimeoutError::Disconnected) => Err(FollowerError::Ended),
        }
    }

    fn feed(&mut self, event: Event, reports: &mut Vec<Report>) -> Result<(), FollowerError> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs());
        self.client.handle(event, now);
        self.note_early();
        while let Some(action) = self.client.next_action() {
            match action {
                Action::Request { source, request, query } => {
                    let sender = self.sources.get(source.index());
                    let sent = sender.is_some_and(|sender| sender.send((request, query)).is_ok());
                    if !sent {
                        return Err(FollowerError::Ended);
                    }
                }
                Action::Hash { job: id, seed_hash: key, blob: input, fresh } => {
                    let job = Job { id, key, input, fresh };
                    self.hasher.send(job).map_err(|_| FollowerError::Ended)?;
                }
                Action::Store(bytes) => {
                    self.unstored = Some(bytes);
                    self.store()?;
                }
                Action::Report(report) => reports.push(report),
            }
        }
        Ok(())
    }

    /// Stores the newest state, unless it is stored.
    fn store(&mut self) -> Result<(), FollowerError> {
        if let (Some(store), Some(bytes)) = (&self.store, &self.unstored) {
            store.write(bytes)?;
        }
        self.unstored = None;
        Ok(())
    }

    /// Notes why a source gave no usable answer, or that it gave one.
    fn noted(
        &mut self,
        source: SourceId,
        answer: Result<Answer, SourceError>,
    ) -> Result<Answer, SourceError> {
        match &answer {
            Ok(_) => self.failures.remove(&source),
            Err(error) => self.failures.insert(source, error.to_string()),
        };
        answer
    }

    /// Notes which sources' blocks are too early for the clock.
    fn note_early(&mut self) {
        for (source, _) in self.client.sources() {
            if let Some(ahead) = self.client.early(source) {
                let text = format!("its next block is {} minutes ahead of this clock", ahead / 60);
                self.failures.insert(source, text);
            }
        }
    }

    fn event(&mut self, happening: Happening) -> Event {
        match happening {
            Happening::Answer(source, request, answer) => match self.noted(source, answer) {
                Ok(Answer::Tip(height, id)) => Event::Tip { request, height, id },
                Ok(Answer::Headers(blobs)) => Event::Headers { request, blobs },
                Ok(Answer::Difficulties(difficulties)) => {
                    Event::Difficulties { request, difficulties }
                }
                Err(_) => Event::Failed { request },
            },
            Happening::Hashed(job, Ok(hash)) => Event::Hashed { job, hash },
            Happening::Hashed(job, Err(error)) => {
                self.hash_failure = Some(HashError(error));
                Event::HashFailed { job }
            }
        }
    }
}

fn spawn(work: impl FnOnce() + Send + 'static) -> Result<(), FollowerError> {
    thread::Builder::new().spawn(work).map(|_| ()).map_err(FollowerError::Threads)
}

/// Answers requests until the follower is gone.
fn serve_source(
    id: SourceId,
    ask: impl Fn(Query) -> Result<Answer, SourceError>,
    requests: &Receiver<(RequestId, Query)>,
    events: &Sender<Happening>,
) {
    while let Ok((request, query)) = requests.recv() {
        // Without an answer, the client would wait forever.
        let answer = panic::catch_unwind(AssertUnwindSafe(|| ask(query)))
            .unwrap_or(Err(SourceError::Panicked));
        if events.send(Happening::Answer(id, request, answer)).is_err() {
            return;
        }
    }
}

/// Computes hashes until the follower is gone, those with one key together.
fn serve_hashes(mut hasher: impl Hasher, jobs: &Receiver<Job>, events: &Sender<Happening>) {
    /// Hashes computed together: enough for all lanes of many threads, and a short wait for news.
    const TOGETHER: usize = 256;
    let mut next = None;
    while let Some(first) = next.take().or_else(|| jobs.recv().ok()) {
        let key = first.key;
        if first.fresh {
            hasher.forget();
        }
        let mut group = vec![first];
        while group.len() < TOGETHER {
            match jobs.try_recv() {
                Ok(job) if job.key == key && !job.fresh => group.push(job),
                other => {
                    next = other.ok();
                    break;
                }
            }
        }
        let inputs: Vec<Vec<u8>> =
            group.iter_mut().map(|job| std::mem::take(&mut job.input)).collect();
        // Without an answer, the client would wait forever.
        let hashes = panic::catch_unwind(AssertUnwindSafe(|| hasher.hash(&key, &inputs)))
            .unwrap_or_else(|_| {
                hasher.forget();
                Err(HashError("internal error: the hasher panicked; please report this".to_owned()))
            });
        for (index, job) in group.iter().enumerate() {
            let hash = match &hashes {
                Ok(hashes) => hashes.get(index).copied().ok_or_else(String::new),
                Err(error) => Err(error.to_string()),
            };
            if events.send(Happening::Hashed(job.id, hash)).is_err() {
                return;
            }
        }
    }
}

/// The reason why following ended or did not begin.
#[derive(Debug, Error)]
pub enum FollowerError {
    /// The stored state, or the given start, is refused.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The store cannot be used.
    #[error(transparent)]
    Store(#[from] StoreFileError),
    /// There are more sources than a client follows.
    #[error(
        "sources: expected at most {}, nodes and relays together, got {given}",
        Client::MAX_SOURCES
    )]
    TooManySources {
        /// Their number.
        given: usize,
    },
    /// Threads cannot be started.
    #[error("cannot start threads: {0}")]
    Threads(std::io::Error),
    /// A thread panicked.
    #[error("a thread ended unexpectedly")]
    Ended,
}

#[cfg(test)]
mod tests;
