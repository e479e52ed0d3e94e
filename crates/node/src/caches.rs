//! The caches of this process. Workers, also those of several instances, share the cache of a key.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use randomx::{Cache, Cpu, Items};

/// A filled cache, with the machine code of its key. It lives as long as a worker holds it.
pub struct Shared {
    key: Box<[u8]>,
    items: Arc<Items>,
}

impl Shared {
    /// Returns the key.
    pub fn key(&self) -> &[u8] {
        &self.key
    }

    /// Returns the source of the key's dataset items.
    pub fn items(&self) -> Arc<Items> {
        self.items.clone()
    }
}

static CACHES: Mutex<Vec<Weak<Shared>>> = Mutex::new(Vec::new());

/// Returns the cache of a key, if a worker holds one.
pub fn find(key: &[u8]) -> Option<Arc<Shared>> {
    caches().iter().filter_map(Weak::upgrade).find(|shared| *shared.key == *key)
}

/// Lets all workers find the cache of a key.
pub fn share(key: Box<[u8]>, cache: Cache) -> Arc<Shared> {
    let items = Arc::new(Items::new(Arc::new(cache), Cpu::detect()));
    let shared = Arc::new(Shared { key, items });
    let mut caches = caches();
    caches.retain(|other| other.strong_count() > 0);
    caches.push(Arc::downgrade(&shared));
    shared
}

/// Returns the number of caches that workers hold.
pub fn count() -> usize {
    caches().iter().filter(|shared| shared.strong_count() > 0).count()
}

fn caches() -> MutexGuard<'static, Vec<Weak<Shared>>> {
    // A panic leaves the list as it is before or after a change.
    CACHES.lock().unwrap_or_else(PoisonError::into_inner)
}
