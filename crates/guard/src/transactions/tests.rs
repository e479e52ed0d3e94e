//! Sending a transaction to nodes that are slow, or refuse it.

use std::sync::{Mutex, mpsc};
use std::thread;
use std::time::Duration;

use super::*;
use crate::nodes::{NoAnswer, Transport};

fn service(nodes: [Transport; 2]) -> Service {
    let names = ["a node", "another node"].map(str::to_owned);
    Service::before(names.into_iter().zip(nodes))
}

/// Sends a transaction, and returns the status in the answer.
fn status(service: &Service) -> Value {
    let answer =
        send(service, Instant::now(), br#"{"tx_as_hex":"0100000000"}"#).expect("an answer");
    serde_json::from_slice::<Value>(&answer).expect("JSON")["status"].clone()
}

/// Returns a node that gives an answer after a pause.
fn node(pause: Duration, answer: &'static str) -> Transport {
    Box::new(move |_| {
        thread::sleep(pause);
        Ok(answer.into())
    })
}

const ACCEPTED: &str = r#"{"status":"OK"}"#;
const REFUSED: &str = r#"{"status":"Failed"}"#;

#[test]
fn a_wallet_does_not_wait_for_a_slow_node_when_another_accepts() {
    let (release, released) = mpsc::channel();
    let (report, reported) = mpsc::channel();
    let released = Mutex::new(released);
    let slow = move |_: &Call| {
        let outcome = released.lock().expect("no panic").recv_timeout(Duration::from_secs(30));
        report.send(outcome).expect("the test waits");
        Err(NoAnswer::Silent("a problem".to_owned()))
    };
    let service = service([Box::new(slow), node(Duration::ZERO, ACCEPTED)]);
    assert_eq!(status(&service), json!("OK"));
    release.send(()).expect("the node waits");
    // It received the transaction too, and was not released before.
    assert_eq!(reported.recv(), Ok(Ok(())));
}

#[test]
fn a_refused_transaction_waits_for_all_nodes() {
    let pause = Duration::from_millis(20);
    let accepted = service([node(pause, ACCEPTED), node(Duration::ZERO, REFUSED)]);
    assert_eq!(status(&accepted), json!("OK"));
    let refused = service([node(pause, REFUSED), node(Duration::ZERO, "no JSON")]);
    assert_eq!(status(&refused), json!("Failed"));
}
