//! A source that takes as much memory as it can, for as long as it can.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use randomx_client::{Answer, Route, Source, node};
use randomx_monero::client::Query;
use serde_json::json;

/// The number of requests for blocks that are sent at once. The longest answers to two have 16 MiB.
const REQUESTS: u64 = 2;

/// Returns a node. The function receives each request and writes the answer.
fn source(answer: impl Fn(&str, TcpStream) + Clone + Send + 'static) -> Source {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}", listener.local_addr().expect("an address"));
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let answer = answer.clone();
            thread::spawn(move || {
                let (mut request, mut part) = (String::new(), [0; 4096]);
                while !request.ends_with('}') {
                    let length = stream.read(&mut part).expect("a request");
                    request.push_str(&String::from_utf8_lossy(&part[..length]));
                }
                answer(&request, stream);
            });
        }
    });
    let address = node::address(&address).expect("an address");
    Source::node(&Route::direct(Duration::from_secs(20)), &address)
}

/// Returns an honest node. Its answers about difficulties have 300 KB.
fn honest() -> Source {
    source(|request, mut stream| {
        let header = |height: u64| {
            json!({
                "height": height,
                "hash": "11".repeat(32),
                "timestamp": 1,
                "orphan_status": false,
                "wide_difficulty": "0x1",
            })
        };
        let headers: Vec<_> = (1..=100).map(header).collect();
        let result = json!({
            "status": "OK",
            "height": 7,
            "top_block_hash": "22".repeat(32),
            "headers": headers,
        });
        let mut body = json!({ "result": result }).to_string();
        if request.contains("get_block_headers_range") {
            body.push_str(&" ".repeat(300_000));
        }
        let head = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length:";
        let _ = stream.write_all(format!("{head} {}\r\n\r\n{body}", body.len()).as_bytes());
    })
}

#[test]
fn a_source_cannot_keep_others_waiting() {
    let (begun, beginnings) = mpsc::channel();
    let (end, ended) = mpsc::channel::<()>();
    let ended = Arc::new(Mutex::new(ended));
    let greedy = source(move |_, mut stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n");
        // More than any answer may have without waiting, and then nothing until the test ends.
        let _ = stream.write_all(&[b' '; (64 << 10) + 1]);
        let _ = begun.send(());
        let _ = ended.lock().expect("no panic").recv();
    });
    let asked =
        thread::spawn(move || greedy.ask(Query::Headers { first: 1, count: REQUESTS }).is_ok());
    for _ in 0..REQUESTS {
        beginnings.recv().expect("a request");
    }
    // The time in which the requests read what was sent.
    thread::sleep(Duration::from_millis(300));
    let honest = honest();
    let tip = honest.ask(Query::Tip);
    assert!(matches!(tip, Ok(Answer::Tip(6, _))), "{:?}", tip.err());
    match honest.ask(Query::Difficulties { first: 1, count: 100 }) {
        Ok(Answer::Difficulties(difficulties)) => assert_eq!(difficulties, [1; 100]),
        other => panic!("{:?}", other.err()),
    }
    assert!(!asked.is_finished());
    drop(end);
    assert!(!asked.join().expect("no panic"));
}
