//! The caches of this process. Workers, also those of several instances, share the cache of a key.

use std::sync::Arc;

use randomx::{Cache, Cpu, Items};

use crate::registry::{Keyed, Registry};

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

impl Keyed for Shared {
    fn key(&self) -> &[u8] {
        &self.key
    }
}

static CACHES: Registry<Shared> = Registry::new();

/// Returns the cache of a key, if a worker holds one.
pub fn find(key: &[u8]) -> Option<Arc<Shared>> {
    CACHES.lock().find(key)
}

/// Lets all workers find the cache of a key.
pub fn share(key: Box<[u8]>, cache: Cache) -> Arc<Shared> {
    let items = Arc::new(Items::new(Arc::new(cache), Cpu::detect()));
    let shared = Arc::new(Shared { key, items });
    CACHES.lock().add(&shared);
    shared
}

/// Returns the number of caches that workers hold.
pub fn count() -> usize {
    CACHES.lock().count()
}
