//! The guard's store, before the guard and after it.

use std::fs;
use std::io::Write;
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

use randomx_client::Store;

use super::chain::chain;
use super::node::{Node, Words};
use super::world::{Guarded, followed};

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
    // The wallet does not wait for the answer.
    let body = r#"{"id":0,"method":"get_block_header_by_height","params":{"height":50}}"#;
    let address = guarded.address();
    let mut wallet = TcpStream::connect(address).expect("a connection");
    let head =
        format!("POST /json_rpc HTTP/1.1\r\nHost: {address}\r\nContent-Length: {}", body.len());
    wallet.write_all(format!("{head}\r\n\r\n{body}").as_bytes()).expect("writable");
    while asked() == followed {
        thread::sleep(Duration::from_millis(10));
    }
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
