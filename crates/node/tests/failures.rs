//! Datasets whose thread does not start, or panics, have failed: no worker waits for them.

use std::io;
use std::thread;

use randomx::Cache;
use randomx_node::caches::share;
use randomx_node::datasets::{Build, State, begin_with, count};
use randomx_node::error::Code;

#[test]
fn a_dataset_has_failed_if_no_thread_starts_or_the_thread_panics() {
    let key = b"test key 000";
    let cache = share(key.as_slice().into(), Cache::new(key).expect("a cache"), false);

    let refuse = |_: Build| Err(io::Error::other("refused"));
    let refused = begin_with(&cache, 1, refuse, |_, _| unreachable!()).expect("room for one");
    let message = "no thread could start to compute the dataset: refused";
    assert_failed(&refused.state(), Code::OutOfMemory, message);
    assert_eq!(count(), 0);

    let mut thread = None;
    let spawn = |build: Build| {
        thread = Some(thread::spawn(build));
        Ok(())
    };
    let panicked = begin_with(&cache, 1, spawn, |_, _| panic!("as a bug")).expect("room for one");
    // The dataset's state says how the thread ended.
    let _ = thread.expect("a thread").join();
    let message = "the thread that computes the dataset panicked";
    assert_failed(&panicked.state(), Code::WorkerFailed, message);
    assert_eq!(count(), 0);
}

fn assert_failed(state: &State, expected: Code, expected_message: &str) {
    let State::Failed { code, message } = state else {
        panic!("expected a failure: {expected_message}");
    };
    assert_eq!((*code, message.as_str()), (expected, expected_message));
}
