use std::io::{Read, Write};
use std::net::TcpStream;

use axum::body::{Body, to_bytes};
use axum::http::Request;
use randomx_http::Server;
use tower::ServiceExt;

use super::*;

/// A router for the blocks of the main network from height 1 to `count`, and their file's folder.
fn blocks(count: u32) -> (Router, tempfile::TempDir) {
    let (records, folder) = records(count);
    (router(served(records, true)), folder)
}

/// Returns the state of a relay with the blocks of an earlier run.
fn served(records: Shared, is_final: bool) -> Served {
    let tip = lock(&records).tip().map_or(0, |(tip, _)| tip);
    let stored = Arc::new(Stored::new(tip, Instant::now()));
    let readiness = Readiness::new(None);
    readiness.set();
    Served { records, is_final, stored, readiness: Arc::new(readiness) }
}

fn records(count: u32) -> (Shared, tempfile::TempDir) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut records = Records::open(&folder.path().join("headers"), 1).expect("a file");
    let mut previous = [0; 32];
    for n in 1..=count {
        let blob = [&[16, 16, 1][..], &previous, &n.to_le_bytes(), &[7; 32], &[1]].concat();
        let record = Record { blob, difficulty: n.into() };
        previous = record.ids().expect("a header").0;
        assert!(records.append(&record).expect("writable"));
    }
    (Arc::new(Mutex::new(records)), folder)
}

async fn ask(router: &Router, method: &str, path: &str, known: &str) -> Response {
    let request = Request::builder().method(method).uri(path);
    let request = request.header("origin", "https://wallet.example").header("if-none-match", known);
    let request = request.body(Body::empty()).expect("a request");
    router.clone().oneshot(request).await.expect("an answer")
}

async fn get(router: &Router, path: &str) -> (u16, Option<String>, Vec<u8>) {
    let response = ask(router, "GET", path, "").await;
    let caching = response.headers().get(header::CACHE_CONTROL);
    let caching = caching.map(|value| value.to_str().expect("text").to_owned());
    let status = response.status().as_u16();
    let body = to_bytes(response.into_body(), 1 << 20).await.expect("a body");
    (status, caching, body.to_vec())
}

#[tokio::test]
async fn answers_have_the_requested_blocks_and_a_limit() {
    let (router, _folder) = blocks(3000);
    for (first, count, found) in [(1, 1, 1), (5, 1000, 1000), (2990, 1000, 11), (1, 9999, 2000)] {
        let (status, _, body) = get(&router, &format!("/v1/headers/{first}/{count}")).await;
        assert_eq!((status, body.len()), (200, 73 * found));
        let (status, _, body) = get(&router, &format!("/v1/difficulties/{first}/{count}")).await;
        assert_eq!((status, body.len()), (200, 16 * found));
    }
    let (status, _, body) = get(&router, "/v1/tip").await;
    let tip: serde_json::Value = serde_json::from_slice(&body).expect("JSON");
    assert_eq!((status, &tip["first"], &tip["height"]), (200, &json!(1), &json!(3000)));
    let (empty, _folder) = blocks(0);
    assert_eq!(get(&empty, "/v1/tip").await.0, 503);
}

#[tokio::test]
async fn only_old_blocks_may_be_cached_forever() {
    let (records, _folder) = records(2000);
    let main = router(served(Arc::clone(&records), true));
    let other = router(served(records, false));
    for (path, forever) in [
        ("/v1/headers/1/1000", true),
        ("/v1/headers/1/1279", true),
        ("/v1/headers/1/1280", false),
        ("/v1/headers/1990/1000", false),
        ("/v1/difficulties/1/1279", true),
        ("/v1/tip", false),
    ] {
        // A reorganisation of a test network can be of any depth.
        for (router, forever) in [(&main, forever), (&other, false)] {
            let (_, caching, _) = get(router, path).await;
            let caching = caching.expect("a header");
            assert_eq!(caching.ends_with("immutable"), forever, "{path}: {caching}");
        }
    }
}

/// A wrong node can send any number of blocks after these.
#[tokio::test]
async fn new_blocks_are_not_cached_forever() {
    let (records, _folder) = records(2000);
    let stored = Arc::new(Stored::new(500, Instant::now()));
    let router = router(Served { stored, ..served(records, true) });
    for (path, forever) in [("/v1/headers/1/500", true), ("/v1/headers/1/501", false)] {
        let (_, caching, _) = get(&router, path).await;
        assert_eq!(caching.expect("a header").ends_with("immutable"), forever, "{path}");
    }
}

#[tokio::test]
async fn nothing_is_answered_before_the_whole_chain_was_read() {
    let (records, _folder) = records(10);
    let readiness = Arc::new(Readiness::new(None));
    let served = Served { readiness, ..served(records, true) };
    let router = router(served.clone());
    for path in ["/v1/tip", "/v1/headers/1/5", "/v1/difficulties/1/5"] {
        assert_eq!(get(&router, path).await, (503, None, b"reading the chain\n".to_vec()));
    }
    let refused = ask(&router, "GET", "/v1/tip", "").await;
    assert_eq!(refused.headers()["access-control-allow-origin"], "*");
    assert_eq!(get(&router, "/v1/none").await.0, 404);
    served.readiness.set();
    assert_eq!(get(&router, "/v1/tip").await.0, 200);
}

/// A slow node must not keep the blocks that an earlier relay left from clients.
#[tokio::test]
async fn kept_blocks_are_served_after_a_time_also_while_the_node_is_asked() {
    let (records, _folder) = records(10);
    let now = Instant::now();
    for (from, status) in [(now, 200), (now + Duration::from_secs(3600), 503)] {
        let readiness = Arc::new(Readiness::new(Some(from)));
        let router = router(Served { readiness, ..served(Arc::clone(&records), true) });
        assert_eq!(get(&router, "/v1/tip").await.0, status);
    }
}

#[tokio::test]
async fn other_paths_have_no_answer() {
    let (router, _folder) = blocks(10);
    for (path, expected) in [
        ("/", 404),
        ("/v1", 404),
        ("/v1/headers", 404),
        ("/v1/headers/1", 404),
        ("/v1/headers/1/1/1", 404),
        ("/v1/headers/11/1", 404),
        ("/v1/headers/0/1", 404),
        ("/v1/headers/1/0", 404),
        ("/v1/headers/18446744073709551615/18446744073709551615", 404),
        ("/v1/../lock", 404),
        ("/v1/%2e%2e/lock", 404),
        ("/v2/tip", 404),
        ("/v1/headers/x/1", 400),
        ("/v1/headers/-1/1", 400),
        ("/v1/headers/18446744073709551616/1", 400),
    ] {
        let (status, caching, _) = get(&router, path).await;
        assert_eq!((status, caching), (expected, None), "{path}");
    }
    for method in ["POST", "PUT", "DELETE"] {
        assert_eq!(ask(&router, method, "/v1/tip", "").await.status(), 405);
    }
}

#[tokio::test]
async fn unchanged_answers_are_not_sent_again() {
    let (router, _folder) = blocks(10);
    for path in ["/v1/tip", "/v1/headers/1/5", "/v1/difficulties/2/3"] {
        let first = ask(&router, "GET", path, "\"other\"").await;
        let etag = first.headers()[header::ETAG].to_str().expect("text").to_owned();
        for known in [etag.clone(), format!("\"a\", W/{etag}"), "*".to_owned()] {
            let again = ask(&router, "GET", path, &known).await;
            assert_eq!(again.status(), 304, "{path}, {known}");
            assert_eq!(again.headers()[header::ETAG], etag);
            assert!(to_bytes(again.into_body(), 1).await.expect("a body").is_empty());
        }
    }
    let head = ask(&router, "HEAD", "/v1/headers/1/5", "").await;
    assert_eq!(
        (head.status().as_u16(), head.headers()["content-length"].as_bytes()),
        (200, &b"365"[..])
    );
    assert!(to_bytes(head.into_body(), 1).await.expect("a body").is_empty());
}

#[tokio::test]
async fn pages_of_other_origins_can_read_the_answers() {
    let (router, _folder) = blocks(10);
    let tip = ask(&router, "GET", "/v1/tip", "").await;
    assert_eq!(tip.headers()["access-control-allow-origin"], "*");
    assert_eq!(tip.headers()["access-control-expose-headers"], "etag");
    let preflight = Request::builder()
        .method("OPTIONS")
        .uri("/v1/tip")
        .header("origin", "https://wallet.example")
        .header("access-control-request-method", "GET")
        .header("access-control-request-headers", "if-none-match")
        .body(Body::empty())
        .expect("a request");
    let allowed = router.oneshot(preflight).await.expect("an answer");
    assert!(allowed.status().is_success());
    assert_eq!(allowed.headers()["access-control-allow-headers"], "if-none-match");
}

#[test]
fn connections_are_kept_and_every_answer_has_the_security_headers() {
    let (router, _folder) = blocks(10);
    let address = "127.0.0.1:0".parse().expect("an address");
    let server = Server::start(address, router, settings()).expect("a port");
    let ask = |request: &str| {
        let mut stream = TcpStream::connect(server.address()).expect("a connection");
        stream.write_all(request.as_bytes()).expect("writable");
        let mut answer = Vec::new();
        // A refusal may reset the connection.
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).to_lowercase()
    };
    let two = "GET /v1/tip HTTP/1.1\r\nHost: a\r\n\r\n\
               GET /v1/none HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    let long = format!("GET /v1/tip HTTP/1.1\r\nX-Long: {}\r\n\r\n", "x".repeat(64 << 10));
    for (request, statuses) in
        [(two, &["200", "404"][..]), ("nonsense\r\n\r\n", &["400"]), (&long, &["431"])]
    {
        let answers = ask(request);
        let answers: Vec<&str> = answers.split("http/1.1 ").skip(1).collect();
        assert_eq!(answers.len(), statuses.len(), "{answers:?}");
        for (answer, status) in answers.iter().zip(statuses) {
            assert!(answer.starts_with(status), "{answer}");
            assert!(answer.contains("\r\nx-content-type-options: nosniff\r\n"), "{answer}");
            assert!(answer.contains("\r\ncontent-security-policy: default-src 'none'\r\n"));
        }
    }
}
