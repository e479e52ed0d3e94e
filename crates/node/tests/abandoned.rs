//! A dataset that was abandoned takes room until its thread has freed the memory.

use std::ops::ControlFlow;
use std::sync::{Arc, mpsc};
use std::thread;

use randomx::{Cache, DatasetError};
use randomx_node::caches::{Shared, share};
use randomx_node::datasets::{Build, begin_with, count};

#[test]
fn an_abandoned_dataset_takes_room_until_its_thread_ends() {
    let (begun, has_begun) = mpsc::channel();
    let (release, released) = mpsc::channel();
    let (sender, threads) = mpsc::channel();
    let spawn = |build: Build| {
        let _ = sender.send(thread::spawn(build));
        Ok(())
    };
    let first = filled();
    let building = begin_with(&first, 1, spawn, move |_, progress| {
        let _ = begun.send(());
        let _ = released.recv();
        assert_eq!(progress(1), ControlFlow::Break(()));
        Err(DatasetError::Cancelled)
    });
    has_begun.recv().expect("the thread");
    drop(building);
    assert_eq!(count(), 0);

    let second = filled();
    let begin = || {
        let refuse = |_: Build| Err(std::io::Error::other("refused"));
        begin_with(&second, 1, refuse, |_, _| unreachable!())
    };
    assert!(begin().is_none());
    release.send(()).expect("the thread waits");
    threads.recv().expect("a thread").join().expect("no panic");
    assert!(begin().is_some());
}

fn filled() -> Arc<Shared> {
    let key = b"test key 000";
    share(key.as_slice().into(), Cache::new(key).expect("a cache"), true)
}
