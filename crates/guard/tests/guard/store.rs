//! The guard's store, before the guard and after it.

use std::fs;
use std::io::Write;
use std::net::TcpStream;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use randomx_client::{HashError, Hasher, Store};
use randomx_monero::Hash;
use serde_json::json;

use super::chain::chain;
use super::node::{Node, Words};
use super::world::{Guarded, followed};

/// Sends a wallet's request that names a height, and does not wait for the answer.
fn ask(guarded: &Guarded, method: &str, height: u64) -> TcpStream {
    let address = guarded.address();
    let body = format!(r#"{{"id":0,"method":"{method}","params":{{"height":{height}}}}}"#);
    let head =
        format!("POST /json_rpc HTTP/1.1\r\nHost: {address}\r\nContent-Length: {}", body.len());
    let mut wallet = TcpStream::connect(address).expect("a connection");
    wallet.write_all(format!("{head}\r\n\r\n{body}").as_bytes()).expect("writable");
    wallet
}

fn wait_until(is_reached: impl Fn() -> bool) {
    let limit = Instant::now() + Duration::from_secs(30);
    while !is_reached() {
        assert!(Instant::now() < limit);
        thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_request_that_outlives_its_guard_writes_no_evidence() {
    static MAY_ANSWER: Mutex<()> = Mutex::new(());

    let (node, guarded, store) = followed(&chain(30, 30), 2160);
    let asked = || node.count(b"\"get_block\"");
    let followed = asked();
    let may_not_answer = MAY_ANSWER.lock().expect("no panic");
    node.words().json = |method, result| {
        if method == "get_block" {
            drop(MAY_ANSWER.lock());
            result["blob"] = json!(hex::encode(&chain(0, 9)[6].blob));
        }
    };
    let _wallet = ask(&guarded, "get_block", 6);
    wait_until(|| asked() > followed);
    let log = guarded.log();
    drop(guarded);
    let _another = Store::open(store.path()).expect("not locked any more");
    drop(may_not_answer);
    let logged = |text: &str| log.lock().expect("no panic").iter().any(|line| line.contains(text));
    wait_until(|| logged("sent false data in get_block"));
    assert!(!store.path().join("lie-1.json").exists());
    assert!(logged("cannot write evidence: the guard has ended"));
}

#[test]
fn a_dropped_guard_leaves_its_store_alone() {
    let (node, guarded, store) = followed(&chain(120, 120), 20);
    let asked = || node.count(b"\"get_block\"");
    node.words().json = |method, _| {
        if method == "get_block" {
            thread::sleep(Duration::from_millis(200));
        }
    };
    let followed = asked();
    let _wallet = ask(&guarded, "get_block_header_by_height", 50);
    wait_until(|| asked() > followed);
    drop(guarded);
    let _another = Store::open(store.path()).expect("not locked any more");
    // The present request to a source goes on, with one for each block.
    let mut before = 0;
    while before < asked() {
        before = asked();
        thread::sleep(Duration::from_secs(1));
    }
    assert!(before > followed);
    assert!(!store.path().join("older-headers").exists());
}

#[test]
fn files_that_a_killed_guard_left_are_removed() {
    let store = tempfile::tempdir().expect("a folder");
    let headers = store.path().join("older-headers");
    fs::create_dir(&headers).expect("a folder");
    let write = |name: &str| fs::write(store.path().join(name), b"x").expect("writable");
    let left = [
        "chain.0123456789abcdef.new",
        "lie-1.json.0123456789abcdef.new",
        "lie-1000.json.0123456789abcdef.new",
        "older-headers/headers-000000.0123456789abcdef.new",
        "older-headers/headers-001234.0123456789abcdef.new",
    ];
    let others = [
        "lie-1.json",
        "lie-1.json.new",
        "lie-x.json.0123456789abcdef.new",
        "notes.0123456789abcdef.new",
        "older-headers/headers-000001",
        "older-headers/headers-x.0123456789abcdef.new",
    ];
    left.iter().chain(&others).for_each(|name| write(name));
    let node = Node::start(Words::honest(chain(0, 0)));
    let _guarded = Guarded::start(&[&node.url], store.path(), 20);
    for name in left {
        assert!(!store.path().join(name).exists(), "{name}");
    }
    for name in others {
        assert!(store.path().join(name).exists(), "{name}");
    }
}

/// Computes hashes that meet every difficulty of 1, once the sender is dropped.
struct Waiting(Receiver<()>);

impl Hasher for Waiting {
    fn hash(&mut self, _: &Hash, inputs: &[Vec<u8>]) -> Result<Vec<Hash>, HashError> {
        let _ = self.0.recv();
        Ok(vec![[0xff; 32]; inputs.len()])
    }

    fn forget(&mut self) {}
}

/// One step takes the second node's answer, which it reports, and then the hash of a new tip.
#[test]
fn wallets_do_not_see_a_tip_that_cannot_be_stored() {
    static ANSWERS: AtomicBool = AtomicBool::new(false);
    let first = Node::start(Words::honest(chain(1, 1)));
    let mut words = Words::honest(chain(1, 1));
    words.json = |_, _| {
        while !ANSWERS.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(10));
        }
    };
    let second = Node::start(words);
    let store = tempfile::tempdir().expect("a folder");
    let (sender, receiver) = mpsc::channel();
    let urls = [first.url.as_str(), second.url.as_str()];
    let mut guarded = Guarded::start_with(&urls, store.path(), 20, Waiting(receiver));
    while !guarded.has_read(0) {
        guarded.step().1.expect("no failure");
    }
    // A folder takes the place of the state.
    fs::create_dir(store.path().join("chain")).expect("a folder");
    ANSWERS.store(true, Ordering::Relaxed);
    thread::sleep(Duration::from_secs(1));
    drop(sender);
    thread::sleep(Duration::from_secs(1));
    let (reports, outcome) = guarded.step();
    assert!(!reports.is_empty() && outcome.is_err(), "{outcome:?} after {reports:?}");
    assert_eq!(guarded.wallet().status()["tip"]["height"], json!(0));
}
