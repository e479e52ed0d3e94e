//! The guard's store, after the guard.

use std::io::Write;
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

use randomx_client::Store;

use super::chain::chain;
use super::world::followed;

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
