//! Connections: a limited number, and none that idles for long.
//!
//! If all places are taken, a new connection takes the place of the one that has idled longest.
//! Connections with a request in progress keep theirs; if all have one, the new one is refused.

use std::{
    collections::HashMap,
    convert::Infallible,
    pin::Pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll},
    time::{Duration, Instant},
};

use axum::{Router, body::Body, http::Request};
use http_body::{Frame, SizeHint};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Notify,
    time,
};
use tokio_io_timeout::TimeoutStream;
use tower::ServiceExt;

use super::{
    failure::{Code, Failure},
    lock,
    parser_errors::Completing,
};

/// The most connections at a time: a browser has six, and tabs share them.
const MAX_CONNECTIONS: usize = 64;

/// The longest time that a client may take to send a request's head.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);

/// The longest time that a client may leave an answer unread.
const WRITE_TIMEOUT: Duration = Duration::from_secs(10);

/// The largest head in bytes, and the most headers.
const HEAD_SIZE: usize = 32 << 10;
const HEADERS: usize = 64;

/// How long requests may take to end when the server stops.
const GRACE: Duration = Duration::from_secs(2);

/// Answers requests until `stop` is ready. `headers` are lines for the answers that do not come from
/// `router`.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    headers: &str,
    stop: impl Future<Output = ()>,
) {
    let places = Arc::new(Places::default());
    let refusal = refusal(headers);
    let headers: Arc<str> = headers.into();
    let graceful = GracefulShutdown::new();
    let mut stop = std::pin::pin!(stop);
    loop {
        let stream = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                Err(_) => {
                    // No file descriptors, or the connection has gone already.
                    time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            },
            () = &mut stop => break,
        };
        let Some(place) = places.take() else {
            // Sends only what fits into the socket at once.
            let _ = stream.try_write(refusal.as_bytes());
            continue;
        };
        let headers = Arc::clone(&headers);
        tokio::spawn(connection(stream, place, router.clone(), headers, graceful.watcher()));
    }
    drop(listener);
    let _ = time::timeout(GRACE, graceful.shutdown()).await;
}

/// The answer to a connection for which there is no place.
fn refusal(headers: &str) -> String {
    let body = Failure::new(Code::Busy, "too many connections; try again").json();
    let length = body.len();
    format!(
        "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\nConnection: close\r\nRetry-After: 1\r\n{headers}\r\n{body}"
    )
}

async fn connection(
    stream: TcpStream,
    place: Taken,
    router: Router,
    headers: Arc<str>,
    watcher: hyper_util::server::graceful::Watcher,
) {
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(WRITE_TIMEOUT));
    let stream = Completing::new(Box::pin(stream), headers);
    let shared = Arc::clone(&place.place);
    let service = service_fn(move |mut request: Request<Incoming>| {
        let busy = Busy::new(&shared);
        request.extensions_mut().insert(Arc::clone(&shared));
        let answer = router.clone().oneshot(request.map(Body::new));
        async move {
            let answered = answer.await?;
            Ok::<_, Infallible>(answered.map(|body| Body::new(Answer { body, _busy: busy })))
        }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new());
    http.header_read_timeout(HEAD_TIMEOUT).max_buf_size(HEAD_SIZE).max_headers(HEADERS);
    let answered = watcher.watch(http.serve_connection(TokioIo::new(stream), service));
    tokio::select! {
        // Errors of a connection concern only its client.
        _ = answered => {}
        () = place.place.wanted.notified() => {}
    }
}

/// The places of connections.
#[derive(Default)]
struct Places {
    next: AtomicU64,
    taken: Mutex<HashMap<u64, Arc<Place>>>,
}

impl Places {
    /// Takes a place, if necessary that of an idle connection.
    fn take(self: &Arc<Places>) -> Option<Taken> {
        let mut taken = lock(&self.taken);
        if taken.len() >= MAX_CONNECTIONS {
            let waiting = taken.iter().filter_map(|(number, place)| Some((*number, place.idle()?)));
            let (longest, _) = waiting.min_by_key(|(_, since)| *since)?;
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
struct Taken {
    places: Arc<Places>,
    number: u64,
    place: Arc<Place>,
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
    /// When `busy` changed last.
    since: Instant,
}

impl Default for Place {
    fn default() -> Place {
        let state = Mutex::new(State { busy: 0, since: Instant::now() });
        Place { state, wanted: Notify::new() }
    }
}

impl Place {
    /// Since when the connection is idle, if it is.
    fn idle(&self) -> Option<Instant> {
        let state = lock(&self.state);
        (state.busy == 0).then_some(state.since)
    }

    /// Counts the connection as idle until the returned value is dropped: the server waits for the
    /// client.
    pub(crate) fn waits_for_client(self: &Arc<Place>) -> Waiting {
        self.change(|busy| busy.saturating_sub(1));
        Waiting(Arc::clone(self))
    }

    fn change(&self, change: impl FnOnce(usize) -> usize) {
        let mut state = lock(&self.state);
        *state = State { busy: change(state.busy), since: Instant::now() };
    }
}

/// A request in progress.
struct Busy(Arc<Place>);

impl Busy {
    fn new(place: &Arc<Place>) -> Busy {
        place.change(|busy| busy + 1);
        Busy(Arc::clone(place))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.change(|busy| busy.saturating_sub(1));
    }
}

/// A request that the client has not sent completely.
pub(crate) struct Waiting(Arc<Place>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.change(|busy| busy + 1);
    }
}

/// The body of an answer. The request is in progress until its end.
struct Answer {
    body: Body,
    _busy: Busy,
}

impl http_body::Body for Answer {
    type Data = <Body as http_body::Body>::Data;
    type Error = <Body as http_body::Body>::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
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
}
