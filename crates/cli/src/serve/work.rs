//! Long work: on its own threads, one request of a kind at a time, reported as it goes, and ended when
//! its client has gone.

use std::{
    convert::Infallible,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use axum::{
    http::{HeaderMap, HeaderValue, header},
    response::{
        IntoResponse, Response,
        sse::{self, Sse},
    },
};
use serde::Serialize;
use serde_json::Value;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, mpsc},
    task, time,
};
use tokio_stream::{StreamExt, wrappers::ReceiverStream};

use super::failure::{Code, Failure};

/// How many requests of a kind may wait for the one in progress.
pub(crate) const QUEUE: usize = 4;

/// The longest wait of a request.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// The longest work for one request.
pub(crate) const LONGEST: Duration = Duration::from_secs(600);

/// Events that wait for a slow client at most; then the work waits.
const UNREAD: usize = 64;

/// Lets one request of a kind work at a time.
pub(crate) struct Gate {
    places: Arc<Semaphore>,
    turn: Arc<Semaphore>,
}

/// The turn of a request, until it is dropped.
pub(super) struct Turn {
    _place: OwnedSemaphorePermit,
    _turn: OwnedSemaphorePermit,
}

impl Default for Gate {
    fn default() -> Gate {
        let places = Arc::new(Semaphore::new(1 + QUEUE));
        Gate { places, turn: Arc::new(Semaphore::new(1)) }
    }
}

impl Gate {
    pub(super) async fn enter(&self) -> Result<Turn, Failure> {
        let busy = |message: &str| Failure::new(Code::Busy, message);
        let place = Arc::clone(&self.places).try_acquire_owned();
        let place =
            place.map_err(|_| busy("too many requests of this kind are waiting; try again"))?;
        let turn = time::timeout(PATIENCE, Arc::clone(&self.turn).acquire_owned()).await;
        match turn {
            Ok(Ok(turn)) => Ok(Turn { _place: place, _turn: turn }),
            _ => Err(busy("another request of this kind is still in progress; try again")),
        }
    }
}

/// A message about work in progress.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Event {
    /// The progress of a phase, 0 to 1.
    Progress { phase: &'static str, done: f64 },
    /// A hash in hex, and its share of its batch's time in milliseconds.
    Hash { index: usize, hash: String, ms: f64 },
    /// A row of a benchmark.
    Row(Value),
    /// The result. The last event.
    Done(Value),
    /// The failure. The last event.
    Error(Failure),
}

impl Event {
    const fn name(&self) -> &'static str {
        match self {
            Event::Progress { .. } => "progress",
            Event::Hash { .. } => "hash",
            Event::Row(_) => "row",
            Event::Done(_) => "done",
            Event::Error(_) => "error",
        }
    }
}

/// The client of work: receives events, and ends the work when it goes.
#[derive(Clone)]
pub(crate) struct Client {
    events: mpsc::Sender<Event>,
    stopping: Arc<AtomicBool>,
    end: Instant,
}

impl Client {
    /// Sends an event. Waits for a client that reads slowly.
    pub(crate) fn send(&self, event: Event) -> Result<(), Failure> {
        self.events.blocking_send(event).map_err(|_| Failure::aborted())
    }

    pub(crate) fn progress(&self, phase: &'static str, done: f64) -> Result<(), Failure> {
        self.send(Event::Progress { phase, done })
    }

    /// Fails if the work should end. To be called every few milliseconds, or after each piece.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        if self.events.is_closed() || self.stopping.load(Ordering::Relaxed) {
            return Err(Failure::aborted());
        }
        if Instant::now() > self.end {
            let message = format!("not done within {} seconds; ask for less", LONGEST.as_secs());
            return Err(Failure::new(Code::Unfinished, message));
        }
        Ok(())
    }
}

/// Does work when its turn comes. Answers with events as it goes, if the request accepts those, else
/// with the object that `work` returns, to which all hashes and rows are added.
pub(crate) async fn answer(
    headers: &HeaderMap,
    gate: &Gate,
    stopping: &Arc<AtomicBool>,
    work: impl FnOnce(&Client) -> Result<Value, Failure> + Send + 'static,
) -> Result<Response, Failure> {
    let turn = gate.enter().await?;
    answer_at_once(turn, headers, stopping, work).await
}

/// Does work at once, and drops `turn` when it has ended. Answers like [`answer`].
pub(super) async fn answer_at_once<T: Send + 'static>(
    turn: T,
    headers: &HeaderMap,
    stopping: &Arc<AtomicBool>,
    work: impl FnOnce(&Client) -> Result<Value, Failure> + Send + 'static,
) -> Result<Response, Failure> {
    let (events, receiver) = mpsc::channel(UNREAD);
    let client = Client { events, stopping: Arc::clone(stopping), end: Instant::now() + LONGEST };
    task::spawn_blocking(move || {
        // The next of its kind begins when this one has ended, not when its client goes.
        let _turn = turn;
        let last = work(&client).map_or_else(Event::Error, Event::Done);
        // The client may have disconnected.
        let _ = client.send(last);
    });
    if wants_events(headers) { Ok(stream(receiver)) } else { collect(receiver).await }
}

fn wants_events(headers: &HeaderMap) -> bool {
    let mut accepted = headers.get_all(header::ACCEPT).iter();
    accepted.any(|kinds| {
        kinds.to_str().is_ok_and(|kinds| kinds.to_ascii_lowercase().contains("text/event-stream"))
    })
}

fn stream(receiver: mpsc::Receiver<Event>) -> Response {
    let events = ReceiverStream::new(receiver).map(|event| {
        let json = serde_json::to_string(&event).unwrap_or_default();
        Ok::<_, Infallible>(sse::Event::default().event(event.name()).data(json))
    });
    Sse::new(events).into_response()
}

async fn collect(mut receiver: mpsc::Receiver<Event>) -> Result<Response, Failure> {
    let mut hashes = Vec::new();
    let mut rows = Vec::new();
    while let Some(event) = receiver.recv().await {
        match event {
            Event::Progress { .. } => {}
            Event::Hash { index, hash, ms } => hashes.push((index, hash, ms)),
            Event::Row(row) => rows.push(row),
            Event::Done(done) => return Ok(json(&whole(done, hashes, rows))),
            Event::Error(failure) => return Err(failure),
        }
    }
    Err(Failure::new(Code::Internal, "the work ended without an answer"))
}

fn whole(mut done: Value, mut hashes: Vec<(usize, String, f64)>, rows: Vec<Value>) -> Value {
    if !hashes.is_empty() {
        hashes.sort_unstable_by_key(|(index, ..)| *index);
        let entry = |(_, hash, ms)| serde_json::json!({ "hash": hash, "ms": ms });
        done["hashes"] = hashes.into_iter().map(entry).collect();
    }
    if !rows.is_empty() {
        done["rows"] = rows.into();
    }
    done
}

/// A JSON answer.
pub(crate) fn json(value: &impl Serialize) -> Response {
    let kind = (header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    match serde_json::to_string(value) {
        Ok(text) => ([kind], text).into_response(),
        Err(problem) => Failure::new(Code::Internal, problem.to_string()).into_response(),
    }
}

/// Milliseconds, rounded to microseconds.
pub(crate) fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client() -> (Client, mpsc::Receiver<Event>) {
        let (events, receiver) = mpsc::channel(UNREAD);
        let stopping = Arc::new(AtomicBool::new(false));
        (Client { events, stopping, end: Instant::now() + LONGEST }, receiver)
    }

    #[test]
    fn work_ends_when_the_client_goes_the_server_stops_or_time_is_up() {
        let code = |client: &Client| client.check().expect_err("an end").code;
        let (client, receiver) = self::client();
        assert_eq!(client.check(), Ok(()));
        drop(receiver);
        assert_eq!(code(&client), Code::Aborted);
        let (client, _receiver) = self::client();
        client.stopping.store(true, Ordering::Relaxed);
        assert_eq!(code(&client), Code::Aborted);
        let (client, _receiver) = self::client();
        let late = Client { end: Instant::now() - Duration::from_secs(1), ..client };
        assert_eq!(code(&late), Code::Unfinished);
    }

    #[tokio::test]
    async fn one_request_works_a_few_wait_and_others_are_refused() {
        let gate = Arc::new(Gate::default());
        let first = gate.enter().await.expect("a turn");
        let waiting: Vec<_> = (0..QUEUE)
            .map(|_| {
                let gate = Arc::clone(&gate);
                tokio::spawn(async move { gate.enter().await.map(drop) })
            })
            .collect();
        while gate.places.available_permits() > 0 {
            task::yield_now().await;
        }
        let refused = gate.enter().await.map(drop).expect_err("no place");
        assert_eq!(refused.code, Code::Busy);
        drop(first);
        for waiting in waiting {
            assert_eq!(waiting.await.expect("a task"), Ok(()));
        }
        assert_eq!(gate.places.available_permits(), 1 + QUEUE);
    }

    #[test]
    fn an_answer_without_events_has_the_hashes_in_order() {
        let hash = |index: usize| (index, format!("{index}"), 1.0);
        let whole = whole(serde_json::json!({ "ms": 3.0 }), vec![hash(1), hash(0)], vec![]);
        let expected = serde_json::json!({
            "ms": 3.0,
            "hashes": [{ "hash": "0", "ms": 1.0 }, { "hash": "1", "ms": 1.0 }],
        });
        assert_eq!(whole, expected);
    }
}
