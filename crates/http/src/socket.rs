//! The socket of a connection, and a view of it that sees when the client closes the connection.
//!
//! Hyper does not read while the service works on a request and bytes of the next one have arrived.
//! So Hyper does not see that such a client disconnects.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, Interest, ReadBuf},
    net::{
        TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    time,
};

use crate::places::Place;

/// The interval at which a socket with unread bytes is checked. It is also the time that a request may
/// take after its client closed the connection: a client may send several short requests and then close its side.
const PAUSE: Duration = Duration::from_millis(100);

/// A socket for the parser. Notes in its place when everything is sent.
pub(crate) struct Socket {
    reading: View,
    writing: OwnedWriteHalf,
    place: Arc<Place>,
}

/// The same socket for a watcher, which does not take bytes from it.
#[derive(Clone)]
pub(crate) struct View(Arc<OwnedReadHalf>);

impl Socket {
    pub(crate) fn new(stream: TcpStream, place: Arc<Place>) -> Socket {
        let (reading, writing) = stream.into_split();
        Socket { reading: View(Arc::new(reading)), writing, place }
    }

    pub(crate) fn view(&self) -> View {
        self.reading.clone()
    }
}

impl View {
    fn stream(&self) -> &TcpStream {
        let half: &OwnedReadHalf = &self.0;
        half.as_ref()
    }

    /// Waits until the client has closed the connection while a request is in progress.
    ///
    /// Does not see the end while unread bytes before it fill the system's buffer.
    pub(crate) async fn abandoned(&self, place: &Place) {
        while !self.is_closed().await {
            time::sleep(PAUSE).await;
        }
        while !place.is_busy_for(PAUSE) {
            time::sleep(PAUSE).await;
        }
    }

    /// Waits for bytes or the end of the connection. Returns whether the client has closed it.
    async fn is_closed(&self) -> bool {
        let stream = self.stream();
        match stream.peek(&mut [0]).await {
            Ok(0) | Err(_) => true,
            // The end may follow unread bytes.
            Ok(_) => {
                stream.ready(Interest::READABLE).await.is_ok_and(|ready| ready.is_read_closed())
            }
        }
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let stream = self.reading.stream();
        loop {
            ready!(stream.poll_read_ready(context))?;
            match stream.try_read(buffer.initialize_unfilled()) {
                Ok(bytes) => {
                    buffer.advance(bytes);
                    return Poll::Ready(Ok(()));
                }
                Err(problem) if problem.kind() == io::ErrorKind::WouldBlock => {}
                Err(problem) => return Poll::Ready(Err(problem)),
            }
        }
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.writing).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.writing).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.writing.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.writing).poll_flush(context))?;
        // Hyper flushes the stream when it has written everything that it has.
        self.place.note_sent();
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.writing).poll_shutdown(context)
    }
}
