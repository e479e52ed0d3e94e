//! Counts what happened, so that a test can show that everything did.

use std::collections::BTreeMap;
use std::sync::Mutex;

static COUNTS: Mutex<BTreeMap<&'static str, u64>> = Mutex::new(BTreeMap::new());

/// Notes that something happened.
pub fn count(what: &'static str) {
    *COUNTS.lock().expect("no test panics here").entry(what).or_insert(0) += 1;
}

/// Returns how often each thing happened.
pub fn counts() -> BTreeMap<&'static str, u64> {
    COUNTS.lock().expect("no test panics here").clone()
}
