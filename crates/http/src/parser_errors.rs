//! Security headers on the answers that the HTTP parser writes itself.
//!
//! Hyper answers a request that it cannot parse with 400, 414 or 431, without asking the service.
//! Those answers have no headers of ours, so they are added to the bytes on their way to the
//! client.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use axum::http::{HeaderMap, HeaderValue};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Lines of headers, as they are sent.
#[derive(Clone, Debug)]
pub(crate) struct Lines {
    text: Arc<str>,
    /// The beginning of the first line, by which an answer that has the headers is recognised.
    first: Arc<[u8]>,
}

impl Lines {
    pub(crate) fn new(headers: &HeaderMap) -> Lines {
        let line = |(name, value): (_, &HeaderValue)| {
            format!("{name}: {}\r\n", value.to_str().unwrap_or_default())
        };
        let text: String = headers.iter().map(line).collect();
        let first = text.split_inclusive(": ").next().unwrap_or_default();
        let first = ["\r\n", first].concat().into_bytes();
        Lines { text: text.into(), first: first.into() }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the end of the last line of a head with a client error that is not the service's.
    fn bare_head(&self, bytes: &[u8]) -> Option<usize> {
        if !bytes.starts_with(b"HTTP/1.1 4") && !bytes.starts_with(b"HTTP/1.0 4") {
            return None;
        }
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")? + 2;
        let mut windows = bytes[..end].windows(self.first.len());
        let own = windows.any(|window| window.eq_ignore_ascii_case(&self.first));
        (!own).then_some(end)
    }
}

/// A stream to a client that completes the parser's own answers.
pub(crate) struct Completing<S> {
    stream: S,
    lines: Lines,
    /// A completed answer, and how much of it is sent.
    pending: Option<(Vec<u8>, usize)>,
}

impl<S> Completing<S> {
    pub(crate) fn new(stream: S, lines: Lines) -> Completing<S> {
        Completing { stream, lines, pending: None }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Completing<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        if this.pending.is_none()
            && let Some(end) = this.lines.bare_head(bytes)
        {
            let whole = [&bytes[..end], this.lines.text.as_bytes(), &bytes[end..]].concat();
            this.pending = Some((whole, 0));
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
        let first = slices.iter().find(|slice| !slice.is_empty()).map_or(&[][..], |slice| slice);
        if self.pending.is_some() || self.lines.bare_head(first).is_some() {
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
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    /// The text that a client receives of `bytes`, through a stream that takes a few at a time.
    async fn received(bytes: &'static [u8]) -> String {
        let (server, mut client) = duplex(5);
        let writing = tokio::spawn(async move {
            let headers = [(HeaderName::from_static("x-a"), HeaderValue::from_static("1"))];
            let lines = Lines::new(&headers.into_iter().collect());
            let mut stream = Completing::new(server, lines);
            stream.write_all(bytes).await.expect("the client reads");
            stream.write_all(b"HTTP").await.expect("the client reads");
        });
        let mut text = String::new();
        client.read_to_string(&mut text).await.expect("UTF-8");
        writing.await.expect("no panic");
        text
    }

    #[tokio::test]
    async fn only_bare_client_errors_are_completed() {
        let bare = b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\n\r\n";
        let completed = "HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\n\
                         x-a: 1\r\n\r\nHTTP";
        assert_eq!(received(bare).await, completed);
        for other in [
            &b"HTTP/1.1 404 Not Found\r\nX-A: x\r\n\r\nbody"[..],
            b"HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 400 Bad Request\r\n\r\n",
            b"HTTP/1.1 400 Bad",
            b"HTTP/1.1 100 Continue\r\n\r\n",
        ] {
            let plain = String::from_utf8_lossy(other).into_owned() + "HTTP";
            assert_eq!(received(other).await, plain);
        }
    }
}
