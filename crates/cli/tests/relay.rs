//! `randomx relay` before a node that fails in the middle of its first read.

mod common;

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::Path,
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

use common::fake_node::{FakeChain, Reply, serve};
use randomx_testing::Running;
use serde_json::{Value, json};

/// The longest wait on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// A relay reads and stores 64 blocks at a time.
const PART: u64 = 64;
const BLOCKS: u64 = 100;

/// Reads the JSON at a path.
fn get(address: &str, path: &str) -> Value {
    let mut stream = TcpStream::connect(address).expect("a connection");
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    let head = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).expect("writable");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    let (_, body) = answer.split_once("\r\n\r\n").expect("a body");
    serde_json::from_str(body).expect("JSON")
}

/// Starts a relay. Returns it, and the lines that it prints.
fn start(node: &str, folder: &Path) -> (Running, mpsc::Receiver<String>) {
    let child = Command::new(env!("CARGO_BIN_EXE_randomx"))
        .args(["relay", "--network", "regtest", "--node", node, "--listen", "127.0.0.1:0"])
        .args(["--poll", "1", "--store"])
        .arg(folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut relay = Running(child.expect("the program starts"));
    let stdout = BufReader::new(relay.stdout.take().expect("a pipe"));
    let (sender, printed) = mpsc::channel();
    thread::spawn(move || {
        for line in stdout.lines().map_while(Result::ok) {
            // The test may have ended.
            let _ = sender.send(line);
        }
    });
    (relay, printed)
}

/// Waits until a relay listens, and compares its newest height.
fn expect_tip(printed: &mpsc::Receiver<String>, height: u64) {
    let line = printed.recv_timeout(PATIENCE).expect("a line");
    let address = line.strip_prefix("listening on http://").expect("an address");
    assert_eq!(get(address, "/v1/tip")["height"], json!(height));
}

#[test]
fn a_relay_serves_nothing_before_it_has_read_the_whole_chain() {
    let is_back = Arc::new(AtomicBool::new(false));
    let answers = Arc::clone(&is_back);
    let node = serve(Arc::new(FakeChain::new(BLOCKS)), move |method, params, result| {
        let is_later = method == "get_block" && params["height"].as_u64() > Some(PART);
        if is_later && !answers.load(Ordering::Relaxed) {
            return Reply::Raw(500, Vec::new());
        }
        Reply::Result(result)
    });
    let folder = tempfile::tempdir().expect("a folder");
    let (mut relay, printed) = start(&node, folder.path());
    let mut notes = BufReader::new(relay.stderr.take().expect("a pipe")).lines();
    for _ in 0..2 {
        let note = notes.next().expect("a note").expect("a line");
        assert!(note.starts_with("note: get_block: "), "{note}");
    }
    assert_eq!(printed.try_recv(), Err(mpsc::TryRecvError::Empty));
    is_back.store(true, Ordering::Relaxed);
    expect_tip(&printed, BLOCKS);
    drop(relay);

    // Later it serves what it has, also without its node. It reads the last block again, which a power loss damages.
    let (_relay, printed) = start("http://127.0.0.1:1", folder.path());
    expect_tip(&printed, BLOCKS - 1);
}
