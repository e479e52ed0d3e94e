//! Clients that connect and do little or nothing.

use std::{
    fs,
    io::{Read, Write},
    net::TcpStream,
    thread,
    time::{Duration, Instant},
};

use serde_json::json;

use super::server::{Answer, Server};

#[test]
fn a_thousand_connections_do_not_shut_others_out() {
    let server = Server::start();
    let mut open: Vec<TcpStream> = Vec::new();
    for number in 0..1000 {
        let mut stream = server.connect();
        // Some begin a request.
        if number % 2 == 0 {
            let _ = stream.write_all(b"GET / HTTP/1.1\r\nHost:");
        }
        open.push(stream);
        if number % 100 == 99 {
            assert_eq!(server.get("/api/info").status, 200, "with {number} connections");
        }
    }
    if let Some(mebibytes) = server.resident() {
        assert!(mebibytes < 64, "{mebibytes} MiB");
    }
    // Nearly all of them were closed to make room.
    let still_open = open.iter_mut().filter_map(|stream| {
        stream.set_read_timeout(Some(Duration::from_millis(1))).ok()?;
        // Windows has another kind.
        let waits = |error: std::io::Error| {
            matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut)
        };
        stream.read(&mut [0]).is_err_and(waits).then_some(())
    });
    let still_open = still_open.count();
    assert!((1..=64).contains(&still_open), "{still_open}");
    assert_eq!(server.get("/api/info").status, 200);
}

#[test]
fn slow_clients_are_disconnected() {
    let server = Server::start();
    let limit = Duration::from_secs(10);
    let took = |start: Instant| {
        let took = start.elapsed();
        assert!(took > limit / 2 && took < 3 * limit, "{took:?}");
    };
    let host = &server.host;
    thread::scope(|scope| {
        scope.spawn(|| {
            // A head, a byte at a time.
            let (mut stream, start) = (server.connect(), Instant::now());
            let head = b"GET / HTTP/1.1\r\nX-Slow: ".iter().copied().chain(std::iter::repeat(b'x'));
            for byte in head {
                if stream.write_all(&[byte]).is_err() {
                    break;
                }
                thread::sleep(Duration::from_millis(100));
            }
            took(start);
        });
        scope.spawn(|| {
            // A body, a byte at a time.
            let mut stream = server.connect();
            let kind = "Content-Type: application/json\r\nContent-Length: 1000";
            let head = format!("POST /api/hash HTTP/1.1\r\nHost: {host}\r\n{kind}\r\n\r\n{{");
            stream.write_all(head.as_bytes()).expect("it is sent");
            let start = Instant::now();
            let mut sender = stream.try_clone().expect("a second handle");
            let drip = thread::spawn(move || {
                while sender.write_all(b" ").is_ok() {
                    thread::sleep(Duration::from_millis(100));
                }
            });
            let (status, code, _) = Answer::read(stream).error();
            assert_eq!((status, code.as_str()), (408, "timeout"));
            took(start);
            drip.join().expect("it ends when the connection does");
        });
        scope.spawn(|| {
            // A large answer that the client does not read.
            let mut stream = server.connect();
            let request = format!("GET /assets/large.wasm HTTP/1.1\r\nHost: {host}\r\n\r\n");
            stream.write_all(request.as_bytes()).expect("it is sent");
            thread::sleep(2 * limit);
            let mut taken = Vec::new();
            let _ = stream.read_to_end(&mut taken);
            assert!(taken.len() < 32 << 20, "the server gives the rest up");
        });
        scope.spawn(|| {
            for _ in 0..20 {
                assert_eq!(server.get("/api/info").status, 200);
                thread::sleep(limit / 20);
            }
        });
    });
}

/// Waits until a server that had no work has begun some, which fills a cache of 256 MiB.
fn wait_for_work(server: &Server) {
    if server.resident().is_none() {
        // It has most likely begun then.
        thread::sleep(Duration::from_millis(500));
    }
    let deadline = Instant::now() + Duration::from_secs(60);
    while let Some(mebibytes) = server.resident().filter(|mebibytes| *mebibytes < 200) {
        assert!(Instant::now() < deadline, "no work has begun: {mebibytes} MiB");
        thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn work_ends_also_if_its_client_sent_more_before_it_disconnected() {
    // Minutes of work.
    let body =
        json!({ "key": "", "inputs": vec!["00"; 20_000], "engine": "interpreter", "threads": 1 });
    let body = body.to_string();
    let head = format!("Content-Type: application/json\r\nContent-Length: {}", body.len());
    for sends_another in [false, true] {
        let server = Server::start();
        let host = &server.host;
        let request = format!("POST /api/hash HTTP/1.1\r\nHost: {host}\r\n{head}\r\n\r\n{body}");
        let next = match sends_another {
            false => "\r",
            // Wine shows no end behind unread bytes.
            true if cfg!(windows) => "",
            true => &request[..50_000],
        };
        let mut stream = server.connect();
        stream.write_all(format!("{request}{next}").as_bytes()).expect("it is sent");
        wait_for_work(&server);
        drop(stream);
        // Behind work in progress it would wait a minute for its turn.
        let answer = server.post("/api/hash", &json!({ "key": "", "inputs": ["00"] }));
        assert_eq!(answer.status, 200);
    }
}

#[test]
fn files_that_look_like_answers_arrive_as_they_are() {
    let server = Server::start();
    let file = b"HTTP/1.1 400\r\n\r\n".repeat(1 << 19);
    fs::write(server.page.path().join("lookalike.txt"), &file).expect("a file");
    let answer = server.get("/lookalike.txt");
    assert!(answer.body == file, "{} bytes", answer.body.len());
}
