//! Datasets that cannot be built take no room, and do not stand in the way of another attempt. A dataset belongs to
//! one cache.

use std::sync::Arc;
use std::thread;

use randomx::Cache;
use randomx_node::caches::{Shared, share};
use randomx_node::datasets::{Building, State, begin, count};

#[test]
fn a_dataset_that_could_not_be_built_is_begun_again_and_one_of_another_cache_is_another() {
    let cache = filled(false);
    // The library refuses to build a dataset without threads.
    let first = begin(&cache, 0, 1).expect("room for one");
    wait_for_failure(&first);
    assert_eq!(count(), 0);

    let second = begin(&cache, 0, 1).expect("room for one");
    assert!(!Arc::ptr_eq(&first, &second));
    wait_for_failure(&second);

    // As if it were in work still.
    *second.state() = State::Building(0.5);
    assert!(Arc::ptr_eq(&second, &begin(&cache, 0, 1).expect("the same")));
    // The items of the cache before may be wrong.
    let fresh = filled(true);
    assert!(begin(&fresh, 0, 1).is_none());
    let third = begin(&fresh, 0, 2).expect("room for two");
    assert!(!Arc::ptr_eq(&second, &third));
    wait_for_failure(&third);
    drop((first, second, third));
    assert_eq!(count(), 0);
}

fn filled(fresh: bool) -> Arc<Shared> {
    let key = b"test key 000";
    share(key.as_slice().into(), Cache::new(key).expect("a cache"), fresh)
}

fn wait_for_failure(building: &Building) {
    while !matches!(*building.state(), State::Failed { .. }) {
        thread::yield_now();
    }
}
