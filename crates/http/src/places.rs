//! Places for connections.
//!
//! If all places are taken, a new connection takes the place of the one that has idled longest.
//! Connections with a request in progress or an answer to send keep theirs, unless that takes too long.
//! If none idles, the new one is refused.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::sync::Notify;

/// The most connections at a time: a browser has six, and tabs share them.
const MAX_CONNECTIONS: usize = 64;

/// The places of connections.
pub(crate) struct Places {
    next: AtomicU64,
    taken: Mutex<HashMap<u64, Arc<Place>>>,
    /// The longest time that a request may take where places are scarce.
    longest: Duration,
}

impl Places {
    pub(crate) fn new(longest: Duration) -> Places {
        Places { next: AtomicU64::new(0), taken: Mutex::default(), longest }
    }

    /// Takes a place, if necessary that of another connection.
    pub(crate) fn take(self: &Arc<Places>) -> Option<Taken> {
        let mut taken = lock(&self.taken);
        if taken.len() >= MAX_CONNECTIONS {
            let loses = |(number, place): (&u64, &Arc<Place>)| {
                Some((*number, place.can_lose_since(self.longest)?))
            };
            let (longest, _) = taken.iter().filter_map(loses).min_by_key(|(_, since)| *since)?;
            if let Some(place) = taken.remove(&longest) {
                place.wanted.notify_one();
            }
        }
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let place = Arc::new(Place::default());
        taken.insert(number, Arc::clone(&place));
        Some(Taken { places: Arc::clone(self), number, place })
    }
}

/// A connection's place. Dropping it frees the place.
pub(crate) struct Taken {
    places: Arc<Places>,
    number: u64,
    place: Arc<Place>,
}

impl Taken {
    pub(crate) fn place(&self) -> &Arc<Place> {
        &self.place
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        lock(&self.places.taken).remove(&self.number);
    }
}

/// The state of a connection.
pub(crate) struct Place {
    state: Mutex<State>,
    /// Signals that another connection takes the place.
    wanted: Notify,
}

struct State {
    /// Requests in progress.
    busy: usize,
    /// Whether Hyper may still have a part of an answer to send.
    sends: bool,
    /// When one of these changed last.
    since: Instant,
}

impl Default for Place {
    fn default() -> Place {
        let state = Mutex::new(State { busy: 0, sends: false, since: Instant::now() });
        Place { state, wanted: Notify::new() }
    }
}

impl Place {
    /// Waits until another connection takes the place.
    pub(crate) async fn lost(&self) {
        self.wanted.notified().await;
    }

    /// Since when the connection idles, or is in one request or answer for longer than `longest`.
    fn can_lose_since(&self, longest: Duration) -> Option<Instant> {
        let State { busy, sends, since } = *lock(&self.state);
        let is_idle = busy == 0 && !sends;
        (is_idle || since.elapsed() > longest).then_some(since)
    }

    /// Counts the connection as idle until the returned value is dropped: the server waits for the
    /// client.
    pub(crate) fn waits_for_client(self: &Arc<Place>) -> Waiting {
        self.change(|state| state.busy = state.busy.saturating_sub(1));
        Waiting(Arc::clone(self))
    }

    /// Whether a request has been in progress for this long.
    pub(crate) fn is_busy_for(&self, time: Duration) -> bool {
        let State { busy, since, .. } = *lock(&self.state);
        busy > 0 && since.elapsed() >= time
    }

    /// Notes that Hyper has sent everything that it had.
    pub(crate) fn note_sent(&self) {
        let mut state = lock(&self.state);
        if state.sends {
            *state = State { sends: false, since: Instant::now(), ..*state };
        }
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        let mut state = lock(&self.state);
        change(&mut state);
        state.since = Instant::now();
    }
}

/// A request in progress. Its drop marks the answer as unsent until [`Place::note_sent`]: Hyper drops a
/// body before it sends the last bytes.
pub(crate) struct Busy(Arc<Place>);

impl Busy {
    pub(crate) fn new(place: &Arc<Place>) -> Busy {
        place.change(|state| state.busy += 1);
        Busy(Arc::clone(place))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.change(|state| {
            state.busy = state.busy.saturating_sub(1);
            state.sends = true;
        });
    }
}

/// A request that the client has not sent completely.
pub(crate) struct Waiting(Arc<Place>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.change(|state| state.busy += 1);
    }
}

/// Locks a mutex, also after a panic of another thread: nothing behind these locks changes in two
/// steps.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);

    #[test]
    fn the_longest_idle_connection_makes_room_and_a_busy_one_does_not() {
        let places = Arc::new(Places::new(HOUR));
        let mut taken: Vec<Taken> =
            (0..MAX_CONNECTIONS).map(|_| places.take().expect("a place")).collect();
        let busy: Vec<Busy> = taken.iter().skip(2).map(|taken| Busy::new(&taken.place)).collect();
        let waiting = taken[1].place.waits_for_client();
        drop(waiting);
        let third = places.take().expect("the first is idle longest");
        assert!(!lock(&places.taken).contains_key(&taken[0].number));
        taken.push(third);
        let _busy = [Busy::new(&taken[1].place), Busy::new(&taken[MAX_CONNECTIONS].place)];
        assert!(places.take().is_none(), "all are busy");
        let waits = taken[5].place.waits_for_client();
        assert!(places.take().is_some(), "one waits for its client");
        drop(waits);
        drop(busy);
        drop(taken);
        assert!(lock(&places.taken).is_empty());
    }

    #[test]
    fn a_connection_idles_after_its_answer_is_sent() {
        let place = Arc::new(Place::default());
        let busy = Busy::new(&place);
        place.note_sent();
        assert_eq!(place.can_lose_since(HOUR), None, "its request is in progress");
        drop(busy);
        assert_eq!(place.can_lose_since(HOUR), None, "its answer is not sent");
        place.note_sent();
        assert!(place.can_lose_since(HOUR).is_some());
    }

    #[test]
    fn a_request_that_takes_too_long_makes_room() {
        let places = Arc::new(Places::new(Duration::from_millis(20)));
        let taken: Vec<Taken> =
            (0..MAX_CONNECTIONS).map(|_| places.take().expect("a place")).collect();
        let busy: Vec<Busy> = taken.iter().map(|taken| Busy::new(&taken.place)).collect();
        std::thread::sleep(Duration::from_millis(40));
        let _later = Busy::new(&taken[0].place);
        let _new = places.take().expect("the second is busy for longest");
        assert!(!lock(&places.taken).contains_key(&taken[1].number));
        assert!(lock(&places.taken).contains_key(&taken[0].number));
        drop(busy);
    }
}
