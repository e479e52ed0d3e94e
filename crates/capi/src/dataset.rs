//! A dataset whose parts the caller's threads compute in place.

#![expect(unsafe_code, reason = "threads write different items of one dataset")]

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

/// The object behind `randomx_dataset`.
pub struct Dataset {
    items: Arc<randomx::Dataset>,
    /// Their address.
    start: AtomicPtr<Item>,
    claims: Claims,
}

impl Dataset {
    /// Allocates a dataset. Returns nothing if there is no memory of the kind that `flags` demand.
    pub(crate) fn allocate(flags: Flags) -> Option<Dataset> {
        let mut dataset =
            randomx::Dataset::zeroed().ok().filter(|all| flags.accept(all.pages()))?;
        let start = AtomicPtr::new(dataset.as_mut_ptr());
        Some(Dataset { items: Arc::new(dataset), start, claims: Claims::default() })
    }

    /// Returns the address of the memory.
    pub(crate) fn memory(&self) -> *mut c_void {
        self.start.load(Ordering::Relaxed).cast()
    }

    /// Computes `count` items, without those past the end. Does nothing if the cache has no key.
    pub(crate) fn initialize(&self, cache: &Cache, first: usize, count: usize) {
        let end = first.saturating_add(count).min(randomx::Dataset::ITEMS);
        if first >= end {
            return;
        }
        cache.read_own(|source| {
            // Threads that compute the same items take turns, and hashes wait for all of them.
            self.claims.write(first..end, |Range { start, end }| {
                let place = self.start.load(Ordering::Relaxed).wrapping_add(start);
                // SAFETY: the range is inside the dataset, which lives as long as `self`. The claim
                // guarantees that no other reference to these items exists, and the pointer is the
                // dataset's own for writing.
                let items = unsafe { slice::from_raw_parts_mut(place, end - start) };
                source.fill(start as u32, items);
            });
        });
    }

    /// Calls `function` with the items while no thread computes any.
    pub(crate) fn read<T>(&self, function: impl FnOnce(&Arc<randomx::Dataset>) -> T) -> T {
        self.claims.read(|| function(&self.items))
    }
}
