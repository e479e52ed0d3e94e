//! A cache whose memory stays where it is while keys come and go.

use std::ffi::c_void;
use std::mem;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, OnceLock, RwLock};

use randomx::{CacheBuilder, CacheMemory, CodePages, EngineChoice, Items, ItemsOptions};

use crate::boundary::has_room;
use crate::flags::Flags;

/// What `randomx_alloc_cache` makes. Whoever reads it holds a lock meanwhile: a new key waits
/// for hashes and datasets in progress, and those wait for a key that is being expanded.
pub struct Cache {
    flags: Flags,
    /// Where the memory is, for those who ask; nothing here follows it.
    memory: AtomicPtr<c_void>,
    content: RwLock<Content>,
}

enum Content {
    /// Memory without a key.
    Empty(CacheMemory),
    Ready(Ready),
    /// The memory is lost, which only happens after a bug: there are no hashes then.
    Lost,
}

/// A key, its cache, and what computes items in the ways that VMs have asked for.
struct Ready {
    key: Vec<u8>,
    cache: Arc<randomx::Cache>,
    sources: [OnceLock<Arc<Items>>; 3],
}

impl Cache {
    /// Memory for a cache, unless there is none or `flags` ask for what this machine lacks.
    pub(crate) fn allocate(flags: Flags) -> Option<Cache> {
        if !flags.suit_caches() || !has_room() {
            return None;
        }
        let mut memory = CacheMemory::new().ok().filter(|memory| flags.accept(memory.pages()))?;
        let place = AtomicPtr::new(memory.as_mut_ptr().cast());
        Some(Cache { flags, memory: place, content: RwLock::new(Content::Empty(memory)) })
    }

    /// Where the memory is.
    pub(crate) fn memory(&self) -> *mut c_void {
        self.memory.load(Ordering::Relaxed)
    }

    /// Expands a key, unless it is there.
    pub(crate) fn initialize(&self, key: &[u8]) {
        let Ok(mut content) = self.content.write() else { return };
        if matches!(&*content, Content::Ready(ready) if ready.key == key) {
            return;
        }
        let memory = match mem::replace(&mut *content, Content::Lost) {
            Content::Empty(memory) => memory,
            Content::Ready(Ready { cache, sources, .. }) => {
                drop(sources);
                // Nobody else has it: whoever reads a cache returns it before the lock.
                let Some(cache) = Arc::into_inner(cache) else { return };
                cache.into_memory()
            }
            Content::Lost => return,
        };
        if !has_room() {
            *content = Content::Empty(memory);
            return;
        }
        let cache = CacheBuilder::in_memory(memory, key, self.flags.cpu_of_cache()).finish();
        let sources = [const { OnceLock::new() }; 3];
        *content = Content::Ready(Ready { key: key.to_vec(), cache: Arc::new(cache), sources });
    }

    /// Calls `function` with what computes items of the key, in the way of `flags`; returns
    /// nothing if there is no key.
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

    /// As [`read`](Self::read), for a dataset, whose items are computed in the cache's own way.
    pub(crate) fn read_own<T>(&self, function: impl FnOnce(&Arc<Items>) -> T) -> Option<T> {
        self.read(self.flags, function)
    }
}

impl Ready {
    /// What computes items in the way of `flags`, made when it is first asked for; nothing if there
    /// is no memory for it.
    fn source(&self, flags: Flags) -> Option<&Arc<Items>> {
        let (engine, code_pages) = (flags.engine(), flags.code_pages());
        let way = match (engine, code_pages) {
            (EngineChoice::Jit, CodePages::Aliased) => 0,
            (EngineChoice::Jit, CodePages::Flipped) => 1,
            _ => 2,
        };
        let source = &self.sources[way];
        if source.get().is_none() && !has_room() {
            return None;
        }
        Some(source.get_or_init(|| {
            let options = ItemsOptions { engine, code_pages, ..ItemsOptions::default() };
            let items = Items::with_options(Arc::clone(&self.cache), options);
            // Where memory for machine code is refused, items can be had without.
            let other = || Items::new(Arc::clone(&self.cache), options.cpu);
            Arc::new(items.unwrap_or_else(|_| other()))
        }))
    }
}
