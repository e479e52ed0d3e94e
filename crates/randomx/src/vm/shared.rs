//! A map of values that all VMs of a process share.

use std::sync::{Arc, Mutex, PoisonError};

/// A value for each key, made when the key first occurs. There are few keys.
pub(super) struct Shared<K, V>(Mutex<Vec<(K, Arc<V>)>>);

impl<K: PartialEq, V> Shared<K, V> {
    pub(super) const fn new() -> Shared<K, V> {
        Shared(Mutex::new(Vec::new()))
    }

    /// Returns the value of a key.
    pub(super) fn of(&self, key: K, make: impl FnOnce() -> V) -> Arc<V> {
        // A panic in another thread leaves the list whole.
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, value)) = all.iter().find(|(known, _)| *known == key) {
            return Arc::clone(value);
        }
        let value = Arc::new(make());
        all.push((key, Arc::clone(&value)));
        value
    }
}
