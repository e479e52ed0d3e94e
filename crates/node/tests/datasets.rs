//! Datasets that cannot be built take no room, and do not stand in the way of another attempt.

use std::sync::Arc;
use std::thread;

use randomx::Cache;
use randomx_node::caches::share;
use randomx_node::datasets::{Building, State, begin, count};

#[test]
fn a_dataset_that_could_not_be_built_is_begun_again() {
    let key = b"test key 000";
    let cache = share(key.as_slice().into(), Cache::new(key).expect("a cache"));
    // The library refuses to build a dataset without threads.
    let first = begin(&cache, 0, 1).expect("room for one");
    wait_for_failure(&first);
    assert_eq!(count(), 0);

    let second = begin(&cache, 0, 1).expect("room for one");
    assert!(!Arc::ptr_eq(&first, &second));
    wait_for_failure(&second);
    drop((first, second));
    assert_eq!(count(), 0);
}

fn wait_for_failure(building: &Building) {
    while !matches!(*building.state(), State::Failed(_)) {
        thread::yield_now();
    }
}
