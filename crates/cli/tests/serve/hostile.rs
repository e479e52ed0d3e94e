//! Hostile requests: each is refused with a reason, and the server continues.

use std::io::Write;

use serde_json::{Value, json};

use super::server::{Answer, Server};

const JSON: &str = "Content-Type: application/json";

#[test]
fn other_names_and_other_sites_are_refused() {
    let server = Server::start();
    let raw = |text: String| server.raw(text);
    let port = server.host.rsplit_once(':').expect("a port").1.to_owned();
    let evil = format!("evil.example:{port}");
    for path in ["/", "/api/info", "/api/missing"] {
        for host in [evil.as_str(), "127.0.0.1", "127.0.0.1:1", "", "a b"] {
            let answer =
                raw(format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"));
            assert!([400, 403].contains(&answer.status), "{host} {path}: {answer:?}");
        }
        let none = raw(format!("GET {path} HTTP/1.1\r\nConnection: close\r\n\r\n"));
        assert!([400, 403].contains(&none.status), "{none:?}");
        let own = &server.host;
        let first_line = raw(format!(
            "GET http://{evil}{path} HTTP/1.1\r\nHost: {own}\r\nConnection: close\r\n\r\n"
        ));
        assert_eq!(first_line.status, 403);
        for header in [
            "Origin: http://evil.example",
            "Origin: null",
            &format!("Origin: https://{own}"),
            "Sec-Fetch-Site: cross-site",
            "Sec-Fetch-Site: same-site",
        ] {
            let (status, code, _) = server.ask(&format!("GET {path}"), &[header], b"").error();
            assert_eq!((status, code.as_str()), (403, "forbidden"), "{header}");
        }
    }
    let own = format!("Origin: http://{}", server.host);
    assert_eq!(
        server.ask("GET /api/info", &[&own, "Sec-Fetch-Site: same-origin"], b"").status,
        200
    );
    let localhost =
        format!("GET /api/info HTTP/1.1\r\nHost: localhost:{port}\r\nConnection: close\r\n\r\n");
    assert_eq!(raw(localhost).status, 200);
}

#[test]
fn a_wrong_argument_is_named() {
    let server = Server::start();
    let many = vec![""; (1 << 16) + 1];
    for (path, asked, message) in [
        ("hash", json!({ "key": "0", "inputs": [] }), "key: odd number of hex digits (1)"),
        (
            "hash",
            json!({ "key": "", "inputs": ["00", "0g"] }),
            "inputs[1]: 'g' at position 2 is not a hex digit",
        ),
        ("hash", json!({ "key": "", "inputs": many }), "inputs: expected at most 65536, got 65537"),
        ("hash", json!({ "key": "", "inputs": [], "lanes": 9 }), "lanes: expected 1 to 8, got 9"),
        ("hash", json!({ "key": "", "inputs": [], "lanes": 0 }), "lanes: expected 1 to 8, got 0"),
        ("hash", json!({ "key": "", "inputs": [], "threads": 0 }), "threads: expected 1 to "),
        (
            "hash",
            json!({ "key": "", "inputs": [], "threads": 1_000_000 }),
            "threads: expected 1 to ",
        ),
        (
            "hash",
            json!({ "key": "", "inputs": [], "threads": -1 }),
            "threads: invalid value: integer `-1`",
        ),
        (
            "hash",
            json!({ "key": "", "inputs": [], "version": 3 }),
            "version: invalid value: integer `3`",
        ),
        (
            "hash",
            json!({ "key": "", "inputs": [], "engine": "x" }),
            "engine: expected auto, interpreter or jit",
        ),
        ("hash", json!({ "key": "", "inputs": [], "mode": 7 }), "mode: invalid type: integer `7`"),
        ("hash", json!({ "key": 7, "inputs": [] }), "key: invalid type: integer `7`"),
        ("hash", json!({ "inputs": [] }), "body: missing field `key`"),
        ("hash", json!({ "key": "", "inputs": [], "x": 1 }), "body: unknown field `x`"),
        ("hash", json!([]), "body: expected a JSON object"),
        (
            "verify",
            json!({ "seedHash": "00", "block": "", "difficulty": "1" }),
            "seedHash: expected 32 bytes",
        ),
        (
            "verify",
            json!({ "seedHash": "", "difficulty": "1" }),
            "hashingBlob: expected this or block",
        ),
        (
            "verify",
            json!({ "seedHash": "00".repeat(32), "block": "", "difficulty": "0" }),
            "difficulty: expected at least 1, got 0",
        ),
        (
            "verify",
            json!({ "seedHash": "00".repeat(32), "block": "", "difficulty": "1", "height": 1_u64 << 60 }),
            "height: expected a whole number from 0 to 2^53 - 1",
        ),
        ("bench", json!({ "seconds": 0 }), "seconds: expected 1 to 120, got 0"),
        ("bench", json!({ "seconds": 70_000 }), "seconds: invalid value"),
        ("fast", json!({ "key": "x" }), "key: odd number of hex digits (1)"),
    ] {
        let (status, code, text) = server.post(&format!("/api/{path}"), &asked).error();
        assert_eq!((status, code.as_str()), (400, "invalid-argument"), "{text}");
        assert!(text.starts_with(message), "{text}");
    }
}

#[test]
fn malformed_bodies_are_refused() {
    let server = Server::start();
    let deep = "[".repeat(100_000);
    let deep_field = format!("{{\"key\":{deep}");
    for body in [
        "",
        "{",
        "}",
        "null",
        "7",
        "\"key\"",
        "{\"key\":}",
        "{'key':''}",
        "\u{feff}{}",
        &deep,
        &deep_field,
        "{\"key\":\"\",\"inputs\":[]} x",
        "{\"key\":\"\",\"key\":\"\",\"inputs\":[]}",
    ] {
        let (status, code, message) =
            server.ask("POST /api/hash", &[JSON], body.as_bytes()).error();
        assert_eq!((status, code.as_str()), (400, "invalid-argument"), "{body:.40}");
        assert!(message.len() < 400, "{message}");
    }
    let (status, ..) = server.ask("POST /api/hash", &[JSON], b"{\"key\":\"\xff\"}").error();
    assert_eq!(status, 400);
    // The parser closes the connection after chunks that it cannot read.
    let host = &server.host;
    let chunks = server.raw(format!(
        "POST /api/hash HTTP/1.1\r\nHost: {host}\r\n{JSON}\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"
    ));
    let (status, code, message) = chunks.error();
    assert_eq!((status, code.as_str()), (400, "invalid-argument"), "{message}");
    // Forms of other sites can send these without a preflight request.
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"] {
        let kind = format!("Content-Type: {kind}");
        let body = b"{\"key\":\"\",\"inputs\":[]}";
        let (status, _, message) = server.ask("POST /api/hash", &[&kind], body).error();
        assert_eq!((status, message.starts_with("Content-Type: ")), (400, true));
    }
    assert_eq!(server.get("/api/info").status, 200);
}

#[test]
fn a_large_body_is_refused_before_it_is_read() {
    let server = Server::start();
    let size = 100 << 20;
    let head = |length: &str| {
        let host = &server.host;
        format!("POST /api/hash HTTP/1.1\r\nHost: {host}\r\n{JSON}\r\n{length}\r\n\r\n")
    };
    // With a length: the answer arrives before a byte of the body is sent.
    let mut stream = server.connect();
    stream.write_all(head(&format!("Content-Length: {size}")).as_bytes()).expect("it is sent");
    let mut sender = stream.try_clone().expect("a second handle");
    let answer = Answer::read(stream);
    let (status, code, _) = answer.error();
    assert_eq!((status, code.as_str()), (413, "too-large"));
    let accepted = sent(&mut sender, size, b"");
    assert!(accepted < size, "the connection is closed");

    // In chunks, without a length.
    let mut stream = server.connect();
    stream.write_all(head("Transfer-Encoding: chunked").as_bytes()).expect("it is sent");
    let accepted = sent(&mut stream, size, b"10000\r\n");
    assert!(accepted < size, "{accepted} bytes were accepted");
    let answer = Answer::read(stream);
    assert!([0, 413].contains(&answer.status), "{answer:?}");

    if let Some(mebibytes) = server.resident() {
        assert!(mebibytes < 64, "{mebibytes} MiB");
    }
    assert_eq!(server.get("/api/info").status, 200);
}

/// Sends a number of bytes in chunks of 64 KiB, each after `before`. Returns how many were accepted.
fn sent(stream: &mut impl Write, size: usize, before: &[u8]) -> usize {
    let after: &[u8] = if before.is_empty() { b"" } else { b"\r\n" };
    let piece = [before, &[b' '; 1 << 16], after].concat();
    let mut taken = 0;
    while taken < size && stream.write_all(&piece).is_ok() {
        taken += 1 << 16;
    }
    taken
}

#[test]
fn long_heads_are_refused_with_security_headers() {
    let server = Server::start();
    let long = format!("X-Long: {}", "x".repeat(1 << 20));
    let request = format!("GET / HTTP/1.1\r\nHost: {}\r\n{long}\r\n\r\n", server.host);
    assert!([0, 431].contains(&server.raw(request).status));
    let headers: Vec<String> = (0..100).map(|number| format!("X-{number}: 1")).collect();
    let headers: Vec<&str> = headers.iter().map(String::as_str).collect();
    let answer = server.ask("GET /", &headers, b"");
    assert_eq!(answer.status, 431, "{answer:?}");
    assert_secure(&answer);
    let path = format!("GET /{}", "a/../".repeat(4000));
    assert!([404, 414].contains(&server.ask(&path, &[], b"").status));
    assert_eq!(server.get("/api/info").status, 200);
}

#[test]
fn requests_that_are_not_http_are_refused_with_security_headers() {
    let server = Server::start();
    let host = &server.host;
    for request in [
        "GET\r\n\r\n".to_owned(),
        "\u{16}\u{3}\u{1} a TLS handshake\r\n\r\n".to_owned(),
        format!("GET / HTTP/1.1\r\nHost: {host}\r\nno colon\r\n\r\n"),
        format!("GET / HTTP/1.1\r\nHost: {host}\r\nContent-Length: x\r\n\r\n"),
        // After a request that is answered.
        format!("GET /api/info HTTP/1.1\r\nHost: {host}\r\n\r\nGET\r\n\r\n"),
    ] {
        let answer = server.raw(&request);
        let text = String::from_utf8_lossy(&answer.body).to_lowercase();
        let all = format!("{}\r\n\r\n{text}", answer.headers);
        let (_, last) = all.rsplit_once("http/1.1 400 bad request").expect("a refusal");
        assert!(last.contains("\r\ncontent-security-policy: default-src 'none'"), "{all}");
        assert!(last.contains("\r\nx-content-type-options: nosniff"), "{all}");
    }
    assert_eq!(server.get("/api/info").status, 200);
}

/// Asserts that an answer has the page's security headers.
fn assert_secure(answer: &Answer) {
    let policy = answer.header("content-security-policy").expect("a policy");
    assert!(policy.starts_with("default-src 'none'; script-src 'self'"), "{answer:?}");
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
}

#[test]
fn messages_escape_control_characters() {
    let server = Server::start();
    let body = r#"{"\u001b[2J\u202e":1}"#;
    let (_, _, message) = server.ask("POST /api/hash", &[JSON], body.as_bytes()).error();
    assert!(message.starts_with(r"body: unknown field `\u{1b}[2J\u{202e}`"), "{message}");
}

#[test]
fn hashing_with_a_dataset_needs_fast_mode() {
    let server = Server::start();
    let asked: Value = json!({ "key": "", "inputs": ["00"], "mode": "fast" });
    let (status, code, message) = server.post("/api/hash", &asked).error();
    assert_eq!((status, code.as_str()), (422, "unsupported"));
    assert!(message.contains("/api/fast"), "{message}");
}
