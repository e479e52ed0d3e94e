//! Work that is abandoned, stopped, or requested too often.

use std::{
    io::{ErrorKind, Write},
    net::TcpStream,
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::{
    common::vectors,
    server::{Answer, Server},
};

/// Minutes of work.
fn long() -> Value {
    json!({ "key": "", "inputs": vec!["00"; 20_000], "engine": "interpreter", "threads": 1 })
}

#[test]
fn hashing_ends_when_its_client_disconnects() {
    let server = Server::start();
    for _ in 0..3 {
        let mut events = server.events("/api/hash", &long());
        assert!(events.any(|(name, _)| name == "hash"), "it has begun");
        drop(events);
    }
    // Behind work in progress it would wait a minute for its turn.
    let answer = server.post("/api/hash", &json!({ "key": "", "inputs": ["00"] }));
    assert_eq!(answer.status, 200);
}

#[test]
fn a_benchmark_ends_within_a_row_when_its_client_disconnects() {
    let server = Server::start();
    let asked = json!({ "seconds": 120 });
    let mut events = server.events("/api/bench", &asked);
    let start = Instant::now();
    assert!(events.any(|(name, _)| name == "row"), "it measures");
    // About four seconds.
    let row = start.elapsed();
    drop(events);
    for _ in 0..3 {
        let start = Instant::now();
        let mut events = server.events("/api/bench", &asked);
        // The answer begins with the work, after that of the client before.
        events.read_head();
        let waited = start.elapsed();
        assert!(waited < row * 3 / 4, "{waited:?}, and a row takes {row:?}");
    }
}

/// Sends a request for long work without waiting for the answer.
fn send_long(server: &Server) -> TcpStream {
    let body = long().to_string();
    let head = format!(
        "POST /api/hash HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        server.host,
        body.len()
    );
    let mut stream = server.connect();
    stream.write_all((head + &body).as_bytes()).expect("it is sent");
    stream
}

/// Whether bytes of an answer have arrived.
fn is_answered(stream: &TcpStream) -> bool {
    stream.set_nonblocking(true).expect("a socket");
    let seen = stream.peek(&mut [0]);
    stream.set_nonblocking(false).expect("a socket");
    match seen {
        Ok(bytes) => bytes > 0,
        Err(error) if error.kind() == ErrorKind::WouldBlock => false,
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn a_few_requests_wait_and_more_are_refused() {
    let server = Server::start();
    let mut first = server.events("/api/hash", &long());
    assert!(first.any(|(name, _)| name == "hash"), "it has begun");
    // Four may wait. The server refuses the one that arrives last.
    let mut waiting: Vec<_> = (0..5).map(|_| send_long(&server)).collect();
    let deadline = Instant::now() + Duration::from_secs(30);
    let refused = loop {
        if let Some(place) = waiting.iter().position(is_answered) {
            break Answer::read(waiting.swap_remove(place));
        }
        assert!(Instant::now() < deadline, "the fifth is refused");
        thread::sleep(Duration::from_millis(10));
    };
    let (status, code, _) = refused.error();
    assert_eq!((status, code.as_str()), (429, "busy"));
    let small = json!({ "key": "", "inputs": ["00"] });
    let (status, code, _) = server.post("/api/hash", &small).error();
    assert_eq!((status, code.as_str()), (429, "busy"));
    assert!(!waiting.iter().any(is_answered), "the others wait");
    // Other kinds of requests are answered meanwhile.
    assert_eq!(server.get("/api/info").status, 200);
    let headers = vectors("mainnet-headers.json");
    let block = &headers["blocks"][1];
    let asked = json!({
        "seedHash": headers["seed_hash"],
        "hashingBlob": block["hashing_blob"],
        "difficulty": block["difficulty"],
    });
    assert_eq!(server.post("/api/verify", &asked).json()["valid"], true);
    drop((first, waiting));
    // On a busy machine the server needs a moment to notice that the clients are gone.
    let deadline = Instant::now() + Duration::from_secs(30);
    let mut answer = server.post("/api/hash", &small);
    while answer.status == 429 && Instant::now() < deadline {
        thread::sleep(Duration::from_millis(50));
        answer = server.post("/api/hash", &small);
    }
    assert_eq!(answer.status, 200);
}

/// Ends a lease, and returns the state of fast mode after that.
fn release(server: &Server, lease: &Value) -> Value {
    let body = json!({ "lease": lease }).to_string();
    let json = ["Content-Type: application/json"];
    let answer = server.ask("DELETE /api/fast", &json, body.as_bytes());
    assert_eq!(answer.status, 200);
    answer.json()["state"].clone()
}

#[test]
fn only_a_lease_ends_fast_mode() {
    let server = Server::start();
    assert_eq!(release(&server, &json!("unknown")), "off");
    let (status, code, _) = server.ask("DELETE /api/fast", &[], b"").error();
    assert_eq!((status, code.as_str()), (400, "invalid-argument"));
}

#[test]
#[ignore = "full tests: computes datasets"]
fn clients_share_a_dataset_until_the_last_lease_ends() {
    let server = Server::start();
    let key = |key: &str| json!({ "key": key });
    let is_phase = |(_, data): &(String, Value), phase: &str| data["phase"] == phase;

    let mut events = server.events("/api/fast", &key("00"));
    assert!(events.any(|event| is_phase(&event, "dataset")));
    let info = server.get("/api/info").json();
    assert_eq!((&info["fast"]["state"], &info["fast"]["key"]), (&json!("starting"), &json!("00")));
    // It has no lease yet, so nobody else stops it.
    assert_eq!(release(&server, &json!("unknown")), "starting");
    // Disconnecting does.
    drop(events);

    let (name, first) = server.events("/api/fast", &key("00")).last().expect("an end");
    assert_eq!((name.as_str(), &first["state"]), ("done", &json!("ready")));
    let second = server.post("/api/fast", &key("00")).json();
    assert_ne!(first["lease"], second["lease"]);
    // Another key waits from here on.
    let mut other = server.events("/api/fast", &key("01"));
    other.read_head();
    let third = server.post("/api/fast", &key("00")).json();
    assert_eq!(release(&server, &third["lease"]), "ready");
    assert_eq!(release(&server, &first["lease"]), "ready");
    assert_eq!(release(&server, &first["lease"]), "ready");

    let asked = |inputs: usize, mode: &str| json!({ "key": "00", "inputs": vec!["0011"; inputs], "mode": mode, "engine": "interpreter" });
    let fast = server.post("/api/hash", &asked(2, "fast")).json();
    let light = server.post("/api/hash", &asked(2, "light")).json();
    assert_eq!(fast["hashes"][1]["hash"], light["hashes"][1]["hash"]);

    let mut hashing = server.events("/api/hash", &asked(20_000, "fast"));
    assert!(hashing.any(|(name, _)| name == "hash"));
    // The other key's dataset may have been started meanwhile.
    assert_ne!(release(&server, &second["lease"]), "ready");
    let (name, data) = hashing.last().expect("an end");
    assert_eq!((name.as_str(), &data["code"]), ("error", &json!("aborted")));
    assert!(other.any(|event| is_phase(&event, "cache")), "the other key's turn");
    drop(other);
    let deadline = Instant::now() + Duration::from_secs(30);
    while let Some(mebibytes) = server.resident().filter(|mebibytes| *mebibytes >= 600) {
        assert!(Instant::now() < deadline, "{mebibytes} MiB");
        thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_benchmark_sends_row_after_row() {
    let server = Server::start();
    let asked = json!({ "seconds": 1 });
    let (mut rows, mut last) = (Vec::new(), String::new());
    for (name, data) in server.events("/api/bench", &asked) {
        match name.as_str() {
            "row" => rows.push(data),
            "done" => assert_eq!(data["count"], rows.len()),
            other => panic!("{other}: {data}"),
        }
        last = name;
    }
    assert_eq!(last, "done");
    let row = |what: &str| rows.iter().find(|row| row["what"] == what).expect("a row");
    assert_eq!(row("Argon2d")["unit"], "MB/s");
    for row in &rows {
        let number = |field: &str| row[field].as_f64();
        if let Some(value) = number("value") {
            assert!(number("low") <= Some(value) && Some(value) <= number("high"), "{row}");
        }
    }
}
