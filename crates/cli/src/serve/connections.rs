//! Connections: so many at a time, and none that does nothing for long.
//!
//! Where all places are taken, a new connection gets that of the one which has waited longest for a
//! request. Those that are being answered keep theirs, and what comes then is turned away.

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

use super::lock;

/// Most connections at a time: a browser has six, and tabs share them.
const MOST: usize = 64;

/// The longest that a client may take for a request's head.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);

/// The longest that a client may leave what is sent to it unread.
const WRITE_TIMEOUT: Duration = Duration::from_secs(10);

/// The longest head, and the most headers.
const HEAD_SIZE: usize = 32 << 10;
const HEADERS: usize = 64;

/// How long requests have to end when the server is stopped.
const GRACE: Duration = Duration::from_secs(2);

/// Answers what comes until `stop` is ready. `refusal` is sent to who is turned away.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    refusal: &str,
    stop: impl Future<Output = ()>,
) {
    let places = Arc::new(Places::default());
    let graceful = GracefulShutdown::new();
    let mut stop = std::pin::pin!(stop);
    loop {
        let stream = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                Err(_) => {
                    // No file descriptors, or a connection that is gone already.
                    time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            },
            () = &mut stop => break,
        };
        let Some(place) = places.take() else {
            // Whatever fits into the socket at once is all that it is worth.
            let _ = stream.try_write(refusal.as_bytes());
            continue;
        };
        tokio::spawn(connection(stream, place, router.clone(), graceful.watcher()));
    }
    drop(listener);
    let _ = time::timeout(GRACE, graceful.shutdown()).await;
}

async fn connection(
    stream: TcpStream,
    place: Taken,
    router: Router,
    watcher: hyper_util::server::graceful::Watcher,
) {
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(WRITE_TIMEOUT));
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
    let answered = watcher.watch(http.serve_connection(TokioIo::new(Box::pin(stream)), service));
    tokio::select! {
        // What goes wrong is the client's affair.
        _ = answered => {}
        () = place.place.wanted.notified() => {}
    }
}

/// Who has a place.
#[derive(Default)]
struct Places {
    next: AtomicU64,
    taken: Mutex<HashMap<u64, Arc<Place>>>,
}

impl Places {
    /// A place, if need be that of a connection without a request.
    fn take(self: &Arc<Places>) -> Option<Taken> {
        let mut taken = lock(&self.taken);
        if taken.len() >= MOST {
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

/// A connection's place, given back when it is dropped.
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

/// What is known of a connection.
pub(crate) struct Place {
    state: Mutex<State>,
    /// Another connection takes the place.
    wanted: Notify,
}

struct State {
    /// Requests that are being answered.
    busy: usize,
    /// Since when that is as it is.
    since: Instant,
}

impl Default for Place {
    fn default() -> Place {
        let state = Mutex::new(State { busy: 0, since: Instant::now() });
        Place { state, wanted: Notify::new() }
    }
}

impl Place {
    /// Since when there is no request to answer.
    fn idle(&self) -> Option<Instant> {
        let state = lock(&self.state);
        (state.busy == 0).then_some(state.since)
    }

    /// Until what is returned is dropped, the client is who is waited for.
    pub(crate) fn waits_for_client(self: &Arc<Place>) -> Waiting {
        self.change(|busy| busy.saturating_sub(1));
        Waiting(Arc::clone(self))
    }

    fn change(&self, change: impl FnOnce(usize) -> usize) {
        let mut state = lock(&self.state);
        *state = State { busy: change(state.busy), since: Instant::now() };
    }
}

/// A request that is being answered.
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

/// A request that its client has not sent whole.
pub(crate) struct Waiting(Arc<Place>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.change(|busy| busy + 1);
    }
}

/// The body of an answer, until whose end the request is being answered.
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
    fn who_waited_longest_makes_room_and_who_is_answered_does_not() {
        let places = Arc::new(Places::default());
        let mut taken: Vec<Taken> = (0..MOST).map(|_| places.take().expect("a place")).collect();
        let busy: Vec<Busy> = taken.iter().skip(2).map(|taken| Busy::new(&taken.place)).collect();
        let waiting = taken[1].place.waits_for_client();
        drop(waiting);
        let third = places.take().expect("the place of the first");
        assert!(!lock(&places.taken).contains_key(&taken[0].number));
        taken.push(third);
        let _busy = [Busy::new(&taken[1].place), Busy::new(&taken[MOST].place)];
        assert!(places.take().is_none(), "all are being answered");
        let waits = taken[5].place.waits_for_client();
        assert!(places.take().is_some(), "a client that does not send its request");
        drop(waits);
        drop(busy);
        drop(taken);
        assert!(lock(&places.taken).is_empty());
    }
}
