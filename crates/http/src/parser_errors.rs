//! Security headers on the answers that the HTTP parser writes itself.
//!
//! Hyper answers a request that it cannot parse with 400, 414 or 431, without asking the service.
//! Those answers have no headers of ours, so they are added to the bytes on their way to the
//! client. Hyper writes such an answer alone and between the answers of the service.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll, ready},
};

use axum::http::{HeaderMap, HeaderValue};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Lines of headers, as they are sent.
#[derive(Clone, Debug)]
pub(crate) struct Lines(Arc<str>);

impl Lines {
    pub(crate) fn new(headers: &HeaderMap) -> Lines {
        let line = |(name, value): (_, &HeaderValue)| {
            format!("{name}: {}\r\n", value.to_str().unwrap_or_default())
        };
        Lines(headers.iter().map(line).collect::<String>().into())
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns `bytes` with these lines, if `bytes` are the head of an error and nothing else.
    fn complete(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        if !bytes.starts_with(b"HTTP/1.1 4") && !bytes.starts_with(b"HTTP/1.0 4") {
            return None;
        }
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")? + 2;
        let (head, rest) = bytes.split_at(end);
        (rest == b"\r\n").then(|| [head, self.0.as_bytes(), rest].concat())
    }
}

/// Counts the answers of a connection's service.
#[derive(Default)]
pub(crate) struct Answers {
    begun: AtomicU64,
    ended: AtomicU64,
}

impl Answers {
    fn begun(&self) -> u64 {
        self.begun.load(Ordering::Relaxed)
    }

    fn ended(&self) -> u64 {
        self.ended.load(Ordering::Relaxed)
    }
}

/// An answer of the service, from its request to the end of its body.
pub(crate) struct Answering(Arc<Answers>);

impl Answering {
    pub(crate) fn new(answers: &Arc<Answers>) -> Answering {
        answers.begun.fetch_add(1, Ordering::Relaxed);
        Answering(Arc::clone(answers))
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.0.ended.fetch_add(1, Ordering::Relaxed);
    }
}

/// A stream to a client that completes the parser's own answers.
///
/// The bytes between the beginning of a service's answer and its end stay as they are, whatever they
/// look like.
pub(crate) struct Completing<S> {
    stream: S,
    lines: Lines,
    answers: Arc<Answers>,
    /// How many answers of the service have been written completely.
    written: u64,
    /// A completed answer of the parser, and how much of it is sent.
    pending: Option<(Vec<u8>, usize)>,
}

impl<S> Completing<S> {
    pub(crate) fn new(stream: S, lines: Lines, answers: Arc<Answers>) -> Completing<S> {
        Completing { stream, lines, answers, written: 0, pending: None }
    }

    /// Returns the parser's answer with all headers, if `bytes` are one.
    fn completed(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let between_answers = self.written == self.answers.begun();
        between_answers.then(|| self.lines.complete(bytes)).flatten()
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Completing<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        if this.pending.is_none() {
            this.pending = this.completed(bytes).map(|whole| (whole, 0));
        }
        let Some((whole, sent)) = &mut this.pending else {
            return Pin::new(&mut this.stream).poll_write(context, bytes);
        };
        while *sent < whole.len() {
            let more = ready!(Pin::new(&mut this.stream).poll_write(context, &whole[*sent..]))?;
            if more == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            *sent += more;
        }
        this.pending = None;
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        // Hyper flushes the stream when it has written everything that it has.
        let begun = self.answers.begun();
        if begun == self.answers.ended() {
            self.written = begun;
        }
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let mut filled = slices.iter().filter(|slice| !slice.is_empty());
        let first = filled.next().map_or(&[][..], |slice| slice);
        if self.pending.is_some() || filled.next().is_none() {
            return self.poll_write(context, first);
        }
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Completing<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderName;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

    use super::*;

    const BARE: &[u8] =
        b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\n\r\n";
    const COMPLETED: &[u8] =
        b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\nx-a: 1\r\n\r\n";

    /// A server's side of a connection.
    struct Server {
        stream: Completing<DuplexStream>,
        answers: Arc<Answers>,
    }

    impl Server {
        fn answering(&self) -> Answering {
            Answering::new(&self.answers)
        }

        async fn write(&mut self, bytes: &[u8]) {
            self.stream.write_all(bytes).await.expect("the client reads");
        }

        async fn flush(&mut self) {
            self.stream.flush().await.expect("the client reads");
        }
    }

    /// The bytes that a client receives, through a stream that takes a few at a time.
    async fn received(write: impl AsyncFnOnce(&mut Server)) -> Vec<u8> {
        let (stream, mut client) = duplex(5);
        let headers = [(HeaderName::from_static("x-a"), HeaderValue::from_static("1"))];
        let lines = Lines::new(&headers.into_iter().collect());
        let answers = Arc::<Answers>::default();
        let stream = Completing::new(stream, lines, Arc::clone(&answers));
        let mut server = Server { stream, answers };
        let mut bytes = Vec::new();
        let writing = async {
            write(&mut server).await;
            drop(server);
        };
        let (read, ()) = tokio::join!(client.read_to_end(&mut bytes), writing);
        read.expect("memory");
        bytes
    }

    #[tokio::test]
    async fn only_bare_client_errors_are_completed() {
        assert_eq!(received(async |server| server.write(BARE).await).await, COMPLETED);
        for other in [
            &b"HTTP/1.1 404 Not Found\r\n\r\nbody"[..],
            b"HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 400 Bad Request\r\n\r\n",
            b"HTTP/1.1 400 Bad",
            b"HTTP/1.1 100 Continue\r\n\r\n",
        ] {
            assert_eq!(received(async |server| server.write(other).await).await, other);
        }
    }

    #[tokio::test]
    async fn an_answer_of_the_service_stays_as_it_is_until_it_is_flushed() {
        let bytes = received(async |server| {
            let answering = server.answering();
            server.write(BARE).await;
            server.flush().await;
            server.write(BARE).await;
            // Hyper drops a body when it has the last bytes, and writes those later.
            drop(answering);
            server.write(BARE).await;
            server.flush().await;
            server.write(BARE).await;
        });
        assert_eq!(bytes.await, [BARE, BARE, BARE, COMPLETED].concat());
    }
}
