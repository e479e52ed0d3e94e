//! Connections: a limited number, and none that idles for long.

use std::{
    convert::Infallible,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    Router,
    body::Body,
    http::{HeaderMap, Request},
};
use http_body::{Frame, SizeHint};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::{GracefulShutdown, Watcher},
};
use tokio::{
    net::{TcpListener, TcpStream},
    time,
};
use tokio_io_timeout::TimeoutStream;
use tower::ServiceExt;

use crate::{
    parser_errors::{Answering, Answers, Completing, Lines},
    places::{Busy, Places, Taken},
    socket::Socket,
};

/// The longest time that a client may take to send a request's head.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);

/// The longest time that a client may leave an answer unread.
const WRITE_TIMEOUT: Duration = Duration::from_secs(10);

/// The largest head in bytes, and the most headers.
const HEAD_SIZE: usize = 32 << 10;
const HEADERS: usize = 64;

/// How long requests may take to end when the server stops.
const GRACE: Duration = Duration::from_secs(2);

/// How a server answers, besides its router.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Headers of every answer.
    pub headers: HeaderMap,
    /// The JSON body of the answer to a connection for which there is no place.
    pub busy: String,
    /// The longest time of a request, and that of sending what is left of its answer when its body ends. The
    /// connection ends then.
    pub longest: Duration,
}

/// Answers requests until `stop` is ready.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    settings: Settings,
    stop: impl Future<Output = ()>,
) {
    let places = Arc::<Places>::default();
    let lines = Lines::new(&settings.headers);
    let refusal = refusal(&settings.busy, &lines);
    let Settings { headers, longest, .. } = settings;
    let own = Arc::new(Own { router, headers, lines, longest });
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
        tokio::spawn(connection(stream, place, Arc::clone(&own), graceful.watcher()));
    }
    drop(listener);
    let _ = time::timeout(GRACE, graceful.shutdown()).await;
}

/// The state that all connections share.
struct Own {
    router: Router,
    headers: HeaderMap,
    lines: Lines,
    longest: Duration,
}

/// Returns the answer to a connection for which there is no place.
fn refusal(body: &str, lines: &Lines) -> String {
    let (length, headers) = (body.len(), lines.as_str());
    format!(
        "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\nConnection: close\r\nRetry-After: 1\r\n{headers}\r\n{body}"
    )
}

async fn connection(stream: TcpStream, place: Taken, own: Arc<Own>, watcher: Watcher) {
    let shared = Arc::clone(place.place());
    let socket = Socket::new(stream, Arc::clone(&shared));
    let view = socket.view();
    let mut stream = TimeoutStream::new(socket);
    stream.set_write_timeout(Some(WRITE_TIMEOUT));
    let (answers, longest) = (Arc::<Answers>::default(), own.longest);
    let stream = Completing::new(Box::pin(stream), own.lines.clone(), Arc::clone(&answers));
    let service = service_fn(move |mut request: Request<Incoming>| {
        let progress = (Busy::new(&shared), Answering::new(&answers));
        request.extensions_mut().insert(Arc::clone(&shared));
        let answer = own.router.clone().oneshot(request.map(Body::new));
        let own = Arc::clone(&own);
        async move {
            let mut answered = answer.await?;
            for (name, value) in &own.headers {
                answered.headers_mut().insert(name, value.clone());
            }
            Ok::<_, Infallible>(
                answered.map(|body| Body::new(Answer { body, _progress: progress })),
            )
        }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new());
    http.header_read_timeout(HEAD_TIMEOUT).max_buf_size(HEAD_SIZE).max_headers(HEADERS);
    let answered = watcher.watch(http.serve_connection(TokioIo::new(stream), service));
    tokio::select! {
        // Errors of a connection concern only its client.
        _ = answered => {}
        () = place.place().lost() => {}
        () = place.place().overdue(longest) => {}
        () = view.abandoned(place.place()) => {}
    }
}

/// The body of an answer. The request is in progress until its end.
struct Answer {
    body: Body,
    _progress: (Busy, Answering),
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
