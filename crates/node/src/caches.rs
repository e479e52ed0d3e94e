//! The caches of this process. Workers, also those of several instances, share the cache of a key.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use randomx::{Cache, Cpu, Items};

use crate::registry::{Registry, Value};

/// A filled cache, with the machine code of its key. It lives as long as a worker holds it.
pub struct Shared {
    key: Box<[u8]>,
    /// Its number among the caches of this process.
    id: u32,
    items: Arc<Items>,
    /// Whether another cache of the key has taken its place. It may be wrong, so it is no longer found by its key.
    is_replaced: AtomicBool,
}

impl Shared {
    /// Returns the source of the key's dataset items.
    pub fn items(&self) -> Arc<Items> {
        self.items.clone()
    }

    /// Returns its number among the caches of this process.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Returns whether workers that need the cache of `key` may use this one.
    fn is_for(&self, key: &[u8]) -> bool {
        *self.key == *key && !self.is_replaced.load(Ordering::Relaxed)
    }
}

impl Value for Shared {}

static CACHES: Registry<Shared> = Registry::new();

/// The number of the next cache.
static NEXT: AtomicU32 = AtomicU32::new(0);

/// Returns the cache of a key, if a worker holds one that no other has replaced. With its number also returns one that
/// was replaced: workers of the instance that filled it go on to share it.
pub fn find(key: &[u8], id: Option<u32>) -> Option<Arc<Shared>> {
    let is_wanted = |shared: &Shared| match id {
        Some(id) => shared.id == id && *shared.key == *key,
        None => shared.is_for(key),
    };
    CACHES.lock().find(is_wanted)
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
    let id = NEXT.fetch_add(1, Ordering::Relaxed);
    let shared = Arc::new(Shared { key, id, items, is_replaced: AtomicBool::new(false) });
    caches.add(&shared);
    shared
}

/// Returns the number of caches that workers hold.
pub fn count() -> usize {
    CACHES.lock().count()
}
