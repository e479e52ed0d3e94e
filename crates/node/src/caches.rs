//! The caches of this process. Workers, also those of several instances, share the cache of a key.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use randomx::{Cache, Cpu, Items};

use crate::registry::{Registry, Value};

/// A filled cache, with the machine code of its key. It lives as long as a worker holds it.
pub struct Shared {
    key: Box<[u8]>,
    items: Arc<Items>,
    /// Whether another cache of the key has taken its place. It may be wrong, so no more workers find it.
    is_replaced: AtomicBool,
}

impl Shared {
    /// Returns the source of the key's dataset items.
    pub fn items(&self) -> Arc<Items> {
        self.items.clone()
    }

    /// Returns whether workers that need the cache of `key` may use this one.
    fn is_for(&self, key: &[u8]) -> bool {
        *self.key == *key && !self.is_replaced.load(Ordering::Relaxed)
    }
}

impl Value for Shared {}

static CACHES: Registry<Shared> = Registry::new();

/// Returns the cache of a key, if a worker holds one that no other has replaced.
pub fn find(key: &[u8]) -> Option<Arc<Shared>> {
    CACHES.lock().find(|shared| shared.is_for(key))
}

/// Lets all workers find the cache of a key. If a worker holds another one, that stays the only one, unless it
/// may be wrong: a `fresh` cache takes its place for good.
pub fn share(key: Box<[u8]>, cache: Cache, fresh: bool) -> Arc<Shared> {
    let items = Arc::new(Items::new(Arc::new(cache), Cpu::detect()));
    let mut caches = CACHES.lock();
    if let Some(held) = caches.find(|shared| shared.is_for(&key)) {
        if !fresh {
            return held;
        }
        held.is_replaced.store(true, Ordering::Relaxed);
    }
    let shared = Arc::new(Shared { key, items, is_replaced: AtomicBool::new(false) });
    caches.add(&shared);
    shared
}

/// Returns the number of caches that workers hold.
pub fn count() -> usize {
    CACHES.lock().count()
}
