//! Places for connections.
//!
//! If all places are taken, a new connection takes the place of the one that has idled longest.
//! Connections with a request in progress or an answer to send keep theirs, but not without limit.
//! If none idles, the new one is refused.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::{sync::Notify, time};

/// The most connections at a time: a browser has six, and tabs share them.
const MAX_CONNECTIONS: usize = 64;

/// The places of connections.
#[derive(Default)]
pub(crate) struct Places {
    next: AtomicU64,
    taken: Mutex<HashMap<u64, Arc<Place>>>,
}

impl Places {
    /// Takes a place, if necessary that of another connection.
    pub(crate) fn take(self: &Arc<Places>) -> Option<Taken> {
        let mut taken = lock(&self.taken);
        if taken.len() >= MAX_CONNECTIONS {
            let loses = |(number, place): (&u64, &Arc<Place>)| Some((*number, place.idle_since()?));
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

    /// Waits until the connection is in one request or answer for longer than `longest`: a client that reads an
    /// answer slowly would keep its memory without limit.
    pub(crate) async fn overdue(&self, longest: Duration) {
        loop {
            let State { busy, sends, since } = *lock(&self.state);
            let is_idle = busy == 0 && !sends;
            // A request that begins while this sleeps becomes overdue only after the sleep.
            let left = if is_idle { longest } else { longest.saturating_sub(since.elapsed()) };
            if left.is_zero() {
                return;
            }
            time::sleep(left).await;
        }
    }

    /// Since when the connection idles.
    fn idle_since(&self) -> Option<Instant> {
        let State { busy, sends, since } = *lock(&self.state);
        (busy == 0 && !sends).then_some(since)
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

    #[test]
    fn the_longest_idle_connection_makes_room_and_a_busy_one_does_not() {
        let places = Arc::new(Places::default());
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
        assert_eq!(place.idle_since(), None, "its request is in progress");
        drop(busy);
        assert_eq!(place.idle_since(), None, "its answer is not sent");
        place.note_sent();
        assert!(place.idle_since().is_some());
    }

    #[tokio::test]
    async fn a_request_and_an_answer_have_the_longest_time_each() {
        let longest = Duration::from_millis(20);
        let place = Arc::new(Place::default());
        let stays = async || time::timeout(3 * longest, place.overdue(longest)).await.is_err();
        assert!(stays().await, "it idles");
        let busy = Busy::new(&place);
        place.overdue(longest).await;
        let waits = place.waits_for_client();
        assert!(stays().await, "the server waits for its client");
        drop(waits);
        place.overdue(longest).await;
        let begun = Instant::now();
        drop(busy);
        place.overdue(longest).await;
        assert!(begun.elapsed() >= longest, "the answer has a time of its own");
        place.note_sent();
        assert!(stays().await);
    }
}
