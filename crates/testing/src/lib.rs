//! Helpers of the Rust tests: the tier, lines about what ran, and filled caches.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::Write;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use randomx::Cache;

/// Whether `cargo xtask test --full` runs this test.
pub fn is_full() -> bool {
    std::env::var("RANDOMX_TESTS").is_ok_and(|tier| tier == "full")
}

/// Returns `full` in the full tier, and `quick` otherwise.
pub fn amount(quick: usize, full: usize) -> usize {
    if is_full() { full } else { quick }
}

/// Prints a line even if the test passes, to report how much ran.
pub fn say(line: impl Display) {
    // The test harness captures the printing macros only.
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// Returns the cache of a key. All tests of a program share it, since filling one takes half a
/// second; it is never freed.
///
/// # Panics
///
/// If there is no memory for it.
pub fn cache(key: &[u8]) -> Arc<Cache> {
    static CACHES: LazyLock<Mutex<BTreeMap<Vec<u8>, Arc<Cache>>>> = LazyLock::new(Mutex::default);
    let mut caches = CACHES.lock().unwrap_or_else(PoisonError::into_inner);
    let cache = caches
        .entry(key.to_vec())
        .or_insert_with(|| Arc::new(Cache::new(key).expect("memory for a cache")));
    Arc::clone(cache)
}
