//! The HTTP side: who may ask, how much, and how many at a time.

use std::net::{Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use randomx_http::{BodyError, Names, Settings, read_body};
use serde_json::json;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task;
use tokio::time::{Instant, timeout_at};

use crate::dispatch::{is_large, reply};
use crate::service::Service;
use crate::status;

/// The longest request in bytes. One with a transaction has twice its size.
const MAX_BODY: usize = 4 << 20;

/// The most requests in work, and the most of these with large answers: up to 128 MiB each, twice.
const MAX_REQUESTS: usize = 16;
const MAX_LARGE: usize = 2;

/// How long a request waits for others in all.
const WAIT: Duration = Duration::from_secs(60);

/// The longest time of a request in work, and of sending its answer. A request waits for others, headers and nodes for
/// 180 seconds in all.
const LONGEST: Duration = Duration::from_secs(300);

/// The state that all requests share.
#[derive(Clone)]
struct Shared {
    service: Arc<Service>,
    names: Names,
    port: u16,
    requests: Arc<Semaphore>,
    large: Arc<Semaphore>,
}

/// Returns the settings of the server. A page may show the status and nothing else.
pub(crate) fn settings() -> Settings {
    let headers = [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; style-src 'self'; frame-ancestors 'none'",
        ),
        (header::CACHE_CONTROL, "no-store"),
        // Monero's wallets do not notice that an idle connection was closed, and fail then.
        (header::CONNECTION, "close"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ];
    let headers = headers.map(|(name, value)| (name, HeaderValue::from_static(value)));
    let busy = json!({ "status": "BUSY" }).to_string();
    Settings { headers: headers.into_iter().collect(), busy, longest: LONGEST }
}

/// Returns the router of a guard that listens on this address.
pub(crate) fn router(service: Arc<Service>, bound: SocketAddr) -> Router {
    let (requests, large) = (Semaphore::new(MAX_REQUESTS), Semaphore::new(MAX_LARGE));
    let (requests, large) = (Arc::new(requests), Arc::new(large));
    let (names, port) = (Names::new(bound), bound.port());
    Router::new().fallback(answer).with_state(Shared { service, names, port, requests, large })
}

async fn answer(State(shared): State<Shared>, request: Request) -> Response {
    if let Err(problem) = permitted(shared.names, shared.port, request.headers()) {
        return (StatusCode::FORBIDDEN, problem).into_response();
    }
    let path = request.uri().path().to_owned();
    if let Some(page) = status::find(&path) {
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return StatusCode::METHOD_NOT_ALLOWED.into_response();
        }
        let (content_type, body) = page(&shared.service);
        return ([(header::CONTENT_TYPE, content_type)], body).into_response();
    }
    if !matches!(*request.method(), Method::GET | Method::POST) {
        return StatusCode::METHOD_NOT_ALLOWED.into_response();
    }
    let begun = Instant::now();
    let busy = || (StatusCode::SERVICE_UNAVAILABLE, "too many requests\n").into_response();
    let deadline = begun + WAIT;
    let request_permit = || timeout_at(deadline, Arc::clone(&shared.requests).acquire_owned());
    let Ok(Ok(permit)) = request_permit().await else { return busy() };
    let body = match read_body(request, MAX_BODY).await {
        Ok(body) => body,
        Err(problem) => {
            let status = match problem {
                BodyError::TooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
                BodyError::Malformed => StatusCode::BAD_REQUEST,
                BodyError::Timeout => StatusCode::REQUEST_TIMEOUT,
            };
            return (status, problem.to_string()).into_response();
        }
    };
    let (permit, large) = if is_large(&path, &body) {
        // Small requests do not wait for large ones that wait.
        drop(permit);
        let large = timeout_at(deadline, Arc::clone(&shared.large).acquire_owned());
        let Ok(Ok(large)) = large.await else { return busy() };
        let Ok(Ok(permit)) = request_permit().await else { return busy() };
        (permit, Some(large))
    } else {
        (permit, None)
    };
    let service = Arc::clone(&shared.service);
    // The work goes on if the wallet closes the connection, so it keeps the permits.
    let work = task::spawn_blocking(move || {
        let reply = reply(&service, begun.into_std(), &path, &body);
        drop(permit);
        (reply, large)
    });
    let Ok((reply, large)) = work.await else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let status = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::OK);
    let content_type = [(header::CONTENT_TYPE, reply.form.content_type())];
    let body = Bytes::from_owner(Held { body: reply.body, _permit: large });
    (status, content_type, Body::from(body)).into_response()
}

/// The body of an answer, whose memory needs the permit until the body was sent.
struct Held {
    body: Vec<u8>,
    _permit: Option<OwnedSemaphorePermit>,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.body
    }
}

/// Accepts wallets and the guard's own page. A page of another site could otherwise send requests,
/// and read the answers through a name of its own for this address.
fn permitted(names: Names, port: u16, headers: &HeaderMap) -> Result<(), &'static str> {
    let mut hosts = headers.get_all(header::HOST).iter();
    let (Some(host), None) = (hosts.next().and_then(|host| host.to_str().ok()), hosts.next())
    else {
        return Err("Host: expected one header\n");
    };
    // Monero's own wallets leave out the port, and the brackets around an IPv6 address.
    let whole = match host.parse::<Ipv6Addr>() {
        Ok(address) => format!("[{address}]:{port}"),
        Err(_) => format!("{host}:{port}"),
    };
    if !names.is_own_host(host) && !names.is_own_host(&whole) {
        return Err("Host: expected a name of this guard\n");
    }
    let origin = headers.get(header::ORIGIN).map(|origin| origin.to_str().unwrap_or_default());
    if origin.is_some_and(|origin| !names.is_own_origin(origin, host)) {
        return Err("Origin: expected this guard's page, or none\n");
    }
    let site = headers.get("sec-fetch-site").map(|site| site.as_bytes());
    if site.is_some_and(|site| site != b"same-origin" && site != b"none") {
        return Err("Sec-Fetch-Site: expected this guard's page, or none\n");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, mpsc};

    use axum::body::to_bytes;
    use randomx_monero::Network;
    use tokio::{runtime, time::timeout};

    use super::*;
    use crate::chain::View;
    use crate::following::now;
    use crate::nodes::{Call, Transport};

    const OWN: &str = "127.0.0.1:18081";

    /// Returns a guard before a node that answers once for each message.
    fn waiting() -> (Shared, mpsc::Sender<()>) {
        let (go_on, messages) = mpsc::channel();
        let messages = Mutex::new(messages);
        let send = move |_: &Call| {
            messages.lock().expect("no panic").recv().expect("a message");
            Ok(br#"{"status":"OK"}"#.to_vec())
        };
        let node = ("node".to_owned(), Box::new(send) as Transport);
        let shared = Shared {
            service: Arc::new(Service::before([node].into_iter())),
            names: Names::new(OWN.parse().expect("an address")),
            port: 18081,
            requests: Arc::new(Semaphore::new(MAX_REQUESTS)),
            large: Arc::new(Semaphore::new(MAX_LARGE)),
        };
        (shared, go_on)
    }

    fn post(path: &str, body: &'static str) -> Request {
        let request = Request::builder().method(Method::POST).uri(path).header(header::HOST, OWN);
        request.body(Body::from(body)).expect("a request")
    }

    fn block_on<T>(work: impl Future<Output = T>) -> T {
        let runtime = runtime::Builder::new_current_thread().enable_time().build();
        runtime.expect("a runtime").block_on(work)
    }

    #[test]
    fn work_counts_until_it_ends() {
        let (shared, go_on) = waiting();
        block_on(async {
            // The smallest transaction.
            let request = post("/sendrawtransaction", r#"{"tx_as_hex":"0100000000"}"#);
            // Dropped, as if the wallet had closed the connection.
            let dropped = answer(State(shared.clone()), request);
            assert!(timeout(Duration::from_millis(200), dropped).await.is_err());
            assert_eq!(shared.requests.available_permits(), MAX_REQUESTS - 1);
            go_on.send(()).expect("a node");
            let all = shared.requests.acquire_many(MAX_REQUESTS as u32);
            assert!(timeout(WAIT, all).await.is_ok());
        });
    }

    #[test]
    fn a_large_answer_counts_until_it_is_sent() {
        let (shared, _go_on) = waiting();
        block_on(async {
            let request = post("/gettransactions", "{}");
            let response = answer(State(shared.clone()), request).await;
            assert_eq!(shared.requests.available_permits(), MAX_REQUESTS);
            assert_eq!(shared.large.available_permits(), MAX_LARGE - 1);
            drop(response);
            assert_eq!(shared.large.available_permits(), MAX_LARGE);
        });
    }

    #[test]
    fn small_requests_do_not_wait_for_large_ones_that_wait() {
        let (shared, go_on) = waiting();
        block_on(async {
            let large = shared.large.acquire_many(MAX_LARGE as u32).await.expect("permits");
            let wait = || answer(State(shared.clone()), post("/gettransactions", "{}"));
            let mut waiting: Vec<_> = (0..MAX_REQUESTS).map(|_| Box::pin(wait())).collect();
            for request in &mut waiting {
                assert!(timeout(Duration::from_millis(1), request).await.is_err());
            }
            go_on.send(()).expect("a node");
            let small = answer(State(shared.clone()), post("/send_raw_transaction", "{}"));
            assert!(timeout(WAIT / 2, small).await.is_ok());
            drop(large);
        });
    }

    #[test]
    fn the_wait_for_others_is_a_part_of_a_requests_time() {
        const LIMIT: Duration = Duration::from_millis(50);
        let (mut shared, go_on) = waiting();
        let service = Arc::get_mut(&mut shared.service).expect("no request");
        service.nodes.limit(LIMIT);
        service.chain.show(View::of_base((1, [1; 32]), Network::Mainnet));
        service.set_followed(Some(now()));
        go_on.send(()).expect("a node");
        block_on(async {
            let all = shared.requests.acquire_many(MAX_REQUESTS as u32).await.expect("permits");
            let mut request = Box::pin(answer(State(shared.clone()), post("/get_outs", "{}")));
            assert!(timeout(LIMIT, &mut request).await.is_err());
            drop(all);
            let body = to_bytes(request.await.into_body(), 1 << 10).await.expect("an answer");
            let text = String::from_utf8_lossy(&body);
            assert!(text.contains("there is no time left for other nodes"), "{text}");
        });
    }

    fn passes(headers: &[(&'static str, &str)]) -> bool {
        let names = Names::new("127.0.0.1:18081".parse().expect("an address"));
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().expect("a value"));
        }
        permitted(names, 18081, &map).is_ok()
    }

    #[test]
    fn wallets_are_accepted() {
        for host in ["127.0.0.1", "127.0.0.1:18081", "localhost", "localhost:18081", "[::1]", "::1"]
        {
            assert!(passes(&[("host", host)]), "{host}");
        }
    }

    #[test]
    fn other_sites_are_refused() {
        let own = ("host", "127.0.0.1:18081");
        assert!(!passes(&[]));
        assert!(!passes(&[own, own]));
        for host in ["evil.example", "evil.example:18081", "localhost:1", "127.0.0.1:1", "::2", ""]
        {
            assert!(!passes(&[("host", host)]), "{host}");
        }
        assert!(passes(&[own, ("origin", "http://127.0.0.1:18081")]));
        for origin in ["http://evil.example", "null", "http://127.0.0.1"] {
            assert!(!passes(&[own, ("origin", origin)]), "{origin}");
        }
        assert!(passes(&[own, ("sec-fetch-site", "none")]));
        assert!(!passes(&[own, ("sec-fetch-site", "cross-site")]));
    }

    #[test]
    fn requests_of_other_sites_and_other_methods_have_no_answer() {
        let (shared, _go_on) = waiting();
        let status = |method: Method, path: &str, host: &str, origin: &str| {
            let request = Request::builder().method(method).uri(path).header(header::HOST, host);
            let request = request.header(header::ORIGIN, origin).body(Body::empty());
            let request = request.expect("a request");
            block_on(answer(State(shared.clone()), request)).status().as_u16()
        };
        let own = "http://127.0.0.1:18081";
        for path in ["/get_info", "/json_rpc", "/guard/status", "/"] {
            assert_eq!(status(Method::GET, path, OWN, own), 200, "{path}");
            for (host, origin) in [("evil.example", own), (OWN, "http://evil.example")] {
                assert_eq!(
                    status(Method::GET, path, host, origin),
                    403,
                    "{path}, {host}, {origin}"
                );
            }
            assert_eq!(status(Method::OPTIONS, path, OWN, own), 405, "{path}");
        }
        assert_eq!(status(Method::POST, "/guard/status", OWN, own), 405);
    }
}
