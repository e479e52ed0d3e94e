//! The caches of this process. Workers, also those of several instances, share the cache of a key.

use std::sync::Arc;

use randomx::{Cache, Cpu, Items};

use crate::registry::{Registry, Value};

/// A filled cache, with the machine code of its key. It lives as long as a worker holds it.
pub struct Shared {
    key: Box<[u8]>,
    items: Arc<Items>,
}

impl Shared {
    /// Returns the source of the key's dataset items.
    pub fn items(&self) -> Arc<Items> {
        self.items.clone()
    }
}

impl Value for Shared {}

static CACHES: Registry<Shared> = Registry::new();

/// Returns the newest cache of a key, if a worker holds one.
pub fn find(key: &[u8]) -> Option<Arc<Shared>> {
    CACHES.lock().find(|shared| *shared.key == *key)
}

/// Lets all workers find the cache of a key. If a worker holds another one, that stays the only one, unless it
/// may be wrong: a `fresh` cache takes its place.
pub fn share(key: Box<[u8]>, cache: Cache, fresh: bool) -> Arc<Shared> {
    let items = Arc::new(Items::new(Arc::new(cache), Cpu::detect()));
    let mut caches = CACHES.lock();
    let held = caches.find(|shared| !fresh && shared.key == key);
    held.unwrap_or_else(|| {
        let shared = Arc::new(Shared { key, items });
        caches.add(&shared);
        shared
    })
}

/// Returns the number of caches that workers hold.
pub fn count() -> usize {
    CACHES.lock().count()
}
