//! Clients that send several requests at once, that disconnect, or that send what is no request.

use std::{
    convert::Infallible,
    io::{Read, Write},
    net::{Shutdown, TcpStream},
    pin::Pin,
    sync::{Arc, Mutex, mpsc},
    task::{Context, Poll},
    thread,
    time::Duration,
};

use axum::{
    Router,
    body::Bytes,
    extract::Request,
    http::{HeaderMap, HeaderName, HeaderValue, Response},
    routing::{get, post},
};
use http_body::{Body, Frame, SizeHint};
use randomx_http::{Server, Settings, read_body};

/// The longest wait on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// The most connections of a server.
const PLACES: usize = 64;

/// The largest body that the server reads.
const LIMIT: usize = 4;

/// The body of the answer to a connection for which there is no place.
const BUSY: &str = "{\"problem\":\"busy\"}";

/// Bytes that look like an answer of the parser. Their length divides the sizes of buffers.
const LOOKALIKE: &[u8] = b"HTTP/1.1 400\r\n\r\n";

const WORK: &str = "GET /work HTTP/1.1\r\nHost: a\r\n\r\n";
const SHORT: &str = "GET /short HTTP/1.1\r\nHost: a\r\n\r\n";
const LAST: &str = "GET /short HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
const LARGE: &str = "GET /large HTTP/1.1\r\nHost: a\r\n\r\n";
const HUGE: &str = "GET /huge HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
const PIECES: &str = "GET /pieces HTTP/1.1\r\nHost: a\r\n\r\n";

/// Reports when work begins, and when it is dropped.
struct Work(mpsc::Sender<&'static str>);

impl Work {
    fn begin(events: &Mutex<mpsc::Sender<&'static str>>) -> Work {
        let events = events.lock().expect("no panic").clone();
        events.send("begun").expect("the test waits");
        Work(events)
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        // A test that has failed does not wait.
        let _ = self.0.send("ended");
    }
}

/// A body of copies of [`LOOKALIKE`], each written alone.
struct Pieces {
    left: u64,
    /// Whether the body waits until the last piece is written.
    waits: bool,
}

impl Pieces {
    fn new(count: u64) -> Pieces {
        Pieces { left: count, waits: false }
    }
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.waits = !self.waits;
        if !self.waits {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let Some(left) = self.left.checked_sub(1) else { return Poll::Ready(None) };
        self.left = left;
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(LOOKALIKE)))))
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left * LOOKALIKE.len() as u64)
    }
}

/// Starts a server. Returns it with what happens to its endless work.
fn start() -> (Server, mpsc::Receiver<&'static str>) {
    start_with(PATIENCE)
}

/// Does the same, with the longest time of a request or an answer.
fn start_with(longest: Duration) -> (Server, mpsc::Receiver<&'static str>) {
    let (sender, events) = mpsc::channel();
    let sender = Arc::new(Mutex::new(sender));
    let work = async move || {
        let _work = Work::begin(&sender);
        std::future::pending::<()>().await;
    };
    let router = Router::new()
        .route("/work", get(work))
        .route("/short", get(async || "short"))
        .route("/body", post(body))
        .route("/large", get(async || LOOKALIKE.repeat(1 << 19)))
        .route("/huge", get(async || LOOKALIKE.repeat(1 << 22)))
        .route("/pieces", get(async || Response::new(axum::body::Body::new(Pieces::new(1 << 10)))));
    let headers = [(HeaderName::from_static("x-a"), HeaderValue::from_static("1"))];
    let settings = Settings {
        headers: headers.into_iter().collect::<HeaderMap>(),
        busy: BUSY.to_owned(),
        longest,
    };
    let loopback = "127.0.0.1:0".parse().expect("an address");
    (Server::start(loopback, router, settings).expect("a port"), events)
}

/// Answers with the length of a body, or with the reason why there is none.
async fn body(request: Request) -> String {
    let read = read_body(request, LIMIT).await;
    read.map_or_else(|problem| problem.to_string(), |body| body.len().to_string())
}

/// Opens a connection and sends requests.
fn send(server: &Server, requests: &[&str]) -> TcpStream {
    let mut stream = TcpStream::connect(server.address()).expect("the server listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    stream.write_all(requests.concat().as_bytes()).expect("the server reads");
    stream
}

fn read(mut stream: TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).expect("answers and the end");
    bytes
}

fn count(bytes: &[u8], text: &[u8]) -> usize {
    bytes.windows(text.len()).filter(|window| *window == text).count()
}

#[test]
fn work_ends_when_its_client_disconnects_whatever_it_sent_before() {
    let (server, events) = start();
    // The parser reads all of the first three at once, and leaves a part of the last in the socket.
    // Wine does not see an end behind unread bytes.
    let long = WORK.repeat(1 << 10);
    for rest in ["", "\r", WORK, if cfg!(windows) { "" } else { &long }] {
        let stream = send(&server, &[WORK, rest]);
        assert_eq!(events.recv_timeout(PATIENCE), Ok("begun"));
        drop(stream);
        assert_eq!(events.recv_timeout(PATIENCE), Ok("ended"), "{} bytes", rest.len());
    }
}

#[test]
fn a_malformed_body_is_not_called_too_large() {
    let (server, _events) = start();
    let head = "POST /body HTTP/1.1\r\nHost: a\r\nConnection: close\r\n";
    for (rest, answer) in [
        ("Content-Length: 4\r\n\r\n1234", "4"),
        ("Content-Length: 5\r\n\r\n12345", "body: expected at most 4 bytes"),
        ("Transfer-Encoding: chunked\r\n\r\n2\r\n12\r\n2\r\n34\r\n0\r\n\r\n", "4"),
        (
            "Transfer-Encoding: chunked\r\n\r\n2\r\n12\r\n3\r\n345\r\n0\r\n\r\n",
            "body: expected at most 4 bytes",
        ),
        ("Transfer-Encoding: chunked\r\n\r\nzz\r\n", "body: expected well-formed chunks"),
        ("Transfer-Encoding: chunked\r\n\r\n2\r\n123", "body: expected well-formed chunks"),
    ] {
        let bytes = read(send(&server, &[head, rest]));
        let text = String::from_utf8_lossy(&bytes);
        assert!(text.ends_with(&format!("\r\n\r\n{answer}")), "{rest:?}: {text}");
    }
}

#[test]
fn short_requests_are_answered_also_if_the_end_follows_them() {
    let (server, _events) = start();
    // Hyper does not answer a request that the end follows at once. That is the last one.
    let stream = send(&server, &[SHORT, SHORT, SHORT]);
    stream.shutdown(Shutdown::Write).expect("a half-open connection");
    assert!(count(&read(stream), b"\r\n\r\nshort") >= 2);
}

#[test]
fn a_body_that_looks_like_answers_of_the_parser_arrives_as_it_is() {
    let (server, _events) = start();
    for (request, copies) in [(LARGE, 1 << 19), (PIECES, 1 << 10)] {
        let bytes = read(send(&server, &[request, LAST]));
        let head = format!("content-length: {}\r\n", copies * LOOKALIKE.len());
        assert_eq!(count(&bytes, head.as_bytes()), 1);
        assert_eq!(count(&bytes, b"x-a: 1\r\n"), 2, "one for each answer");
        assert_eq!(count(&bytes, LOOKALIKE), copies);
        assert!(bytes.ends_with(b"\r\n\r\nshort"));
    }
}

#[test]
fn an_answer_of_the_parser_has_the_headers_also_after_others() {
    let (server, _events) = start();
    for before in [&[][..], &[SHORT], &[LARGE, SHORT], &[SHORT, LARGE]] {
        let bytes = read(send(&server, &[before, &["no request\r\n\r\n"]].concat()));
        let own = count(&bytes, b"x-a: 1\r\n");
        assert_eq!(own, before.len() + 1);
        let last = String::from_utf8_lossy(&bytes[bytes.len().saturating_sub(200)..]).into_owned();
        assert!(last.contains("HTTP/1.1 400 Bad Request\r\n"), "{last}");
        assert!(last.ends_with("x-a: 1\r\n\r\n"), "{last}");
    }
}

#[test]
fn an_answer_that_is_still_being_sent_keeps_its_place() {
    let (server, _events) = start();
    let slow = send(&server, &[HUGE]);
    // Hyper has the whole answer when its first byte arrives. The system's buffers cannot hold all of its 64 MiB.
    slow.peek(&mut [0]).expect("an answer");
    let _idle: Vec<_> = (1..PLACES).map(|_| send(&server, &[])).collect();
    assert!(read(send(&server, &[LAST])).ends_with(b"\r\n\r\nshort"), "there is a place for it");
    assert_eq!(count(&read(slow), LOOKALIKE), 1 << 22);
}

#[test]
fn without_a_place_a_connection_gets_the_status_503() {
    let (server, events) = start();
    let busy: Vec<_> = (0..PLACES).map(|_| send(&server, &[WORK])).collect();
    for _ in &busy {
        assert_eq!(events.recv_timeout(PATIENCE), Ok("begun"));
    }
    // It sends nothing: a reset for a request that nobody reads could overtake the answer.
    let answer = read(send(&server, &[]));
    let answer = String::from_utf8(answer).expect("text");
    assert!(answer.starts_with("HTTP/1.1 503 Service Unavailable\r\n"), "{answer}");
    let length = format!("\r\nContent-Length: {}\r\n", BUSY.len());
    for line in [&length, "\r\nConnection: close\r\n", "\r\nRetry-After: 1\r\n", "\r\nx-a: 1\r\n"] {
        assert!(answer.contains(line), "{answer}");
    }
    assert!(answer.ends_with(&format!("\r\n\r\n{BUSY}")), "{answer}");
}

#[test]
fn a_request_and_an_answer_end_after_the_longest_time_also_if_places_are_free() {
    let (server, events) = start_with(Duration::from_secs(1));
    let waiting = send(&server, &[WORK]);
    assert_eq!(events.recv_timeout(PATIENCE), Ok("begun"));
    assert_eq!(events.recv_timeout(PATIENCE), Ok("ended"));
    assert!(read(waiting).is_empty());
    // All of the 64 MiB take 25 seconds. A few are in the system's buffers when the connection ends.
    let mut slow = send(&server, &[HUGE]);
    let (mut part, mut received) = (vec![0; 1 << 18], 0);
    while let Ok(bytes @ 1..) = slow.read(&mut part) {
        received += bytes;
        thread::sleep(Duration::from_millis(100));
    }
    assert!(received < LOOKALIKE.len() << 22, "{received} bytes");
}

#[test]
fn an_idle_connection_is_not_in_a_request() {
    let (server, _events) = start_with(Duration::from_secs(1));
    let mut idle = send(&server, &[SHORT]);
    thread::sleep(Duration::from_millis(2500));
    idle.write_all(LAST.as_bytes()).expect("the server reads");
    assert_eq!(count(&read(idle), b"\r\n\r\nshort"), 2);
}
