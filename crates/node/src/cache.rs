//! The cache of one key (specification, section 7), filled step by step.

use std::sync::Arc;

use napi_derive::napi;
use randomx::Cpu;

use crate::caches::{self, Shared};
use crate::error::{Failure, Result};
use crate::owned::Owned;

/// Returns the number of caches that workers of this process hold with this copy of the add-on, 256 MiB each.
#[napi(catch_unwind)]
pub fn cache_count() -> u32 {
    u32::try_from(caches::count()).unwrap_or(u32::MAX)
}

/// A cache that is being filled.
#[napi]
pub struct CacheBuilder {
    key: Box<[u8]>,
    builder: Owned<randomx::CacheBuilder>,
}

#[napi]
impl CacheBuilder {
    /// Allocates the cache of `key`.
    ///
    /// # Errors
    ///
    /// `out-of-memory`.
    #[napi(constructor, catch_unwind)]
    pub fn new(key: &[u8]) -> Result<CacheBuilder> {
        // Another thread may change shared memory: the cache must be that of the key under which workers find it.
        let key: Box<[u8]> = key.into();
        let builder = randomx::CacheBuilder::new(&key, Cpu::detect()).map_err(Failure::cache)?;
        Ok(CacheBuilder { key, builder: Owned::new(builder) })
    }

    /// Fills at most `blocks` more blocks of 1 KiB and returns the part that is done, 0 to 1. A fill has
    /// 786,432 blocks: three passes over the memory.
    #[napi(catch_unwind)]
    pub fn fill(&mut self, blocks: u32) -> f64 {
        let mut builder = self.builder.lock();
        let Some(builder) = &mut *builder else { return 1.0 };
        builder.fill(blocks as usize);
        builder.filled() as f64 / randomx::CacheBuilder::BLOCKS as f64
    }

    /// Fills the rest, and returns the cache. Workers then find it by its key. A `fresh` cache takes the place of
    /// the one that workers hold, which may be wrong.
    ///
    /// # Errors
    ///
    /// `invalid-argument` if the cache was taken before.
    #[napi(catch_unwind)]
    pub fn finish(&mut self, fresh: bool) -> Result<Cache> {
        let builder = self.builder.lock().take();
        let taken = "cache: expected one that is being filled, got one that was taken or freed";
        let builder = builder.ok_or_else(|| Failure::invalid_argument(taken.into()))?;
        Ok(Cache(Owned::new(caches::share(self.key.clone(), builder.finish(), fresh))))
    }

    /// Frees the memory, if the cache was not taken.
    #[napi(catch_unwind)]
    pub fn free(&mut self) {
        self.builder.free();
    }
}

/// A filled cache, as one worker holds it.
#[napi]
pub struct Cache(Owned<Arc<Shared>>);

#[napi]
impl Cache {
    /// Returns the cache of `key` that workers of this process hold, or `null`. One that a fresh cache has replaced is
    /// found only with its number.
    #[napi(catch_unwind)]
    pub fn find(key: &[u8], id: Option<u32>) -> Option<Cache> {
        caches::find(key, id).map(|shared| Cache(Owned::new(shared)))
    }

    /// Returns the number of the cache in this process.
    ///
    /// # Errors
    ///
    /// `invalid-argument` for a cache that was freed.
    #[napi(catch_unwind)]
    pub fn id(&self) -> Result<u32> {
        Ok(self.shared()?.id())
    }

    /// Lets go of the cache. Its memory is freed when no worker holds it.
    #[napi(catch_unwind)]
    pub fn free(&mut self) {
        self.0.free();
    }
}

impl Cache {
    pub(crate) fn shared(&self) -> Result<Arc<Shared>> {
        let freed = "cache: expected one in use, got one that was freed";
        self.0.lock().clone().ok_or_else(|| Failure::invalid_argument(freed.into()))
    }
}
