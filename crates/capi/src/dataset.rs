//! A dataset whose parts are computed by the caller's threads, where it lies.

use std::ffi::c_void;
use std::ops::Range;
use std::slice;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, Ordering};

use randomx::Item;

use crate::cache::Cache;
use crate::flags::Flags;

use claims::Claims;

mod claims;

/// What `randomx_alloc_dataset` makes.
pub struct Dataset {
    items: Arc<randomx::Dataset>,
    /// Where they are.
    start: AtomicPtr<Item>,
    claims: Claims,
}

impl Dataset {
    /// Memory for a dataset, unless there is none or not of the kind that `flags` ask for.
    pub(crate) fn allocate(flags: Flags) -> Option<Dataset> {
        let mut dataset =
            randomx::Dataset::zeroed().ok().filter(|all| flags.accept(all.pages()))?;
        let start = AtomicPtr::new(dataset.as_mut_ptr());
        Some(Dataset { items: Arc::new(dataset), start, claims: Claims::default() })
    }

    /// Where the memory is.
    pub(crate) fn memory(&self) -> *mut c_void {
        self.start.load(Ordering::Relaxed).cast()
    }

    /// Computes items; those past the last are left out. Does nothing if the cache has no key.
    pub(crate) fn initialize(&self, cache: &Cache, first: usize, count: usize) {
        let end = first.saturating_add(count).min(randomx::Dataset::ITEMS);
        if first >= end {
            return;
        }
        cache.read_own(|source| {
            // Threads that are given the same items take turns, and hashes wait for all of them.
            self.claims.write(first..end, |Range { start, end }| {
                let place = self.start.load(Ordering::Relaxed).wrapping_add(start);
                // SAFETY: the items are `start..end` of the dataset, which lives as long as
                // `self`; the claim says that nobody else has a reference to any of them, and
                // the pointer is the one that the dataset gives out for writing.
                let items = unsafe { slice::from_raw_parts_mut(place, end - start) };
                source.fill(start as u32, items);
            });
        });
    }

    /// Calls `function` with the items while nobody computes any.
    pub(crate) fn read<T>(&self, function: impl FnOnce(&Arc<randomx::Dataset>) -> T) -> T {
        self.claims.read(|| function(&self.items))
    }
}
