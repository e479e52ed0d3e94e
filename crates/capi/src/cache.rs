//! A cache that keeps its memory from key to key.

use std::ffi::c_void;
use std::mem;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, OnceLock, RwLock};

use randomx::{CacheBuilder, CacheMemory, CodePages, EngineChoice, Items, ItemsOptions};

use crate::boundary::has_room;
use crate::flags::Flags;

/// The object behind `randomx_cache`. Readers hold a lock: a new key waits for hashes and datasets in
/// progress, and these wait while a key is expanded.
pub struct Cache {
    flags: Flags,
    /// The address of the memory. Callers may ask for it; this crate does not dereference it.
    memory: AtomicPtr<c_void>,
    content: RwLock<Content>,
}

enum Content {
    /// Memory without a key.
    Empty(CacheMemory),
    Ready(Ready),
    /// The memory is lost, which happens only after a bug. There are no hashes then.
    Lost,
}

/// A key, its cache, and the sources of items for the different options of VMs.
struct Ready {
    key: Vec<u8>,
    cache: Arc<randomx::Cache>,
    sources: [OnceLock<Arc<Items>>; 3],
}

impl Cache {
    /// Allocates a cache. Returns nothing if memory or a feature that `flags` demand is missing.
    pub(crate) fn allocate(flags: Flags) -> Option<Cache> {
        if !flags.suit_caches() || !has_room() {
            return None;
        }
        let mut memory = CacheMemory::new().ok().filter(|memory| flags.accept(memory.pages()))?;
        let place = AtomicPtr::new(memory.as_mut_ptr().cast());
        Some(Cache { flags, memory: place, content: RwLock::new(Content::Empty(memory)) })
    }

    /// Returns the address of the memory.
    pub(crate) fn memory(&self) -> *mut c_void {
        self.memory.load(Ordering::Relaxed)
    }

    /// Expands a key, unless it is the present one.
    pub(crate) fn initialize(&self, key: &[u8]) {
        let Ok(mut content) = self.content.write() else { return };
        if matches!(&*content, Content::Ready(ready) if ready.key == key) {
            return;
        }
        let memory = match mem::replace(&mut *content, Content::Lost) {
            Content::Empty(memory) => memory,
            Content::Ready(Ready { cache, sources, .. }) => {
                drop(sources);
                // There is no other owner, since readers drop theirs before they release the lock.
                let Some(cache) = Arc::into_inner(cache) else { return };
                cache.into_memory()
            }
            Content::Lost => return,
        };
        let mut kept = Vec::new();
        if kept.try_reserve_exact(key.len()).is_err() || !has_room() {
            *content = Content::Empty(memory);
            return;
        }
        kept.extend_from_slice(key);
        let cache = CacheBuilder::in_memory(memory, key, self.flags.cpu_of_cache()).finish();
        let sources = [const { OnceLock::new() }; 3];
        *content = Content::Ready(Ready { key: kept, cache: Arc::new(cache), sources });
    }

    /// Calls `function` with a source of items that suits `flags`. Returns nothing if there is no key.
    pub(crate) fn read<T>(
        &self,
        flags: Flags,
        function: impl FnOnce(&Arc<Items>) -> T,
    ) -> Option<T> {
        let content = self.content.read().ok()?;
        match &*content {
            Content::Ready(ready) => ready.source(flags).map(function),
            Content::Empty(_) | Content::Lost => None,
        }
    }

    /// Calls `function` with a source of items that suits the cache's own flags, for datasets.
    pub(crate) fn read_own<T>(&self, function: impl FnOnce(&Arc<Items>) -> T) -> Option<T> {
        self.read(self.flags, function)
    }
}

impl Ready {
    /// Returns the source of items that suits `flags`, and creates it at the first call. Returns
    /// nothing if there is no memory for it.
    fn source(&self, flags: Flags) -> Option<&Arc<Items>> {
        let (engine, code_pages) = (flags.engine(), flags.code_pages());
        let index = match (engine, code_pages) {
            (EngineChoice::Jit, CodePages::Aliased) => 0,
            (EngineChoice::Jit, CodePages::Flipped) => 1,
            _ => 2,
        };
        let source = &self.sources[index];
        if source.get().is_none() && !has_room() {
            return None;
        }
        Some(source.get_or_init(|| {
            let options = ItemsOptions { engine, code_pages, ..ItemsOptions::default() };
            let items = Items::with_options(Arc::clone(&self.cache), options);
            // Without executable memory of the chosen kind, items are computed by the interpreter.
            let interpreted = || Items::interpreted(Arc::clone(&self.cache), options.cpu);
            Arc::new(items.unwrap_or_else(|_| interpreted()))
        }))
    }
}
