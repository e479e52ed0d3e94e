//! A node that takes as much memory as it can, for as long as it can.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use super::{Node, NodeBlock, NodeError, address, fetch};
use crate::agent::Route;

/// The number of requests for blocks that are sent at once. The longest answers to two have 16 MiB.
const REQUESTS: u64 = 2;

/// The time that an answer may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// Returns a node. The function receives each request and writes the answer.
fn node(answer: impl Fn(&str, TcpStream) + Clone + Send + 'static) -> Node {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let text = format!("http://{}", listener.local_addr().expect("an address"));
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
    Node::new(&Route::direct(PATIENCE), &address(&text).expect("an address"), 0)
}

/// Returns an honest node. Its answers with several headers have 300 KB.
fn honest() -> Node {
    node(|request, mut stream| {
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
fn a_node_cannot_keep_others_waiting() {
    let (begun, beginnings) = mpsc::channel();
    let (end, ended) = mpsc::channel::<()>();
    let ended = Arc::new(Mutex::new(ended));
    let greedy = node(move |_, mut stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n");
        // More than any answer may have without waiting, and then nothing until the test ends.
        let _ = stream.write_all(&[b' '; (64 << 10) + 1]);
        let _ = begun.send(());
        let _ = ended.lock().expect("no panic").recv();
    });
    thread::scope(|scope| {
        let asked =
            scope.spawn(|| fetch(&greedy, 1..=REQUESTS, Ok::<NodeBlock, NodeError>).0.len());
        for _ in 0..REQUESTS {
            beginnings.recv().expect("a request");
        }
        let begun = Instant::now();
        while !greedy.rpc.reads_long_answer() {
            assert!(begun.elapsed() < PATIENCE, "one of the answers is read on");
            thread::yield_now();
        }
        let honest = honest();
        assert_eq!(honest.info().expect("a short answer").height, 7);
        assert_eq!(honest.headers(1, 100).expect("a long answer").len(), 100);
        assert!(greedy.rpc.reads_long_answer() && !asked.is_finished());
        drop(end);
        assert_eq!(asked.join().expect("no panic"), 0);
    });
}
