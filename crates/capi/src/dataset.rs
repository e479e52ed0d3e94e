//! A dataset whose parts the caller's threads compute in place.

#![expect(unsafe_code, reason = "threads write different items of one dataset")]

use std::ffi::c_void;
use std::ops::Range;
use std::slice;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, Ordering};

use randomx::{Item, Items};

use crate::cache::Cache;
use crate::flags::Flags;

use claims::Claims;
use missing::Missing;

mod claims;
mod missing;

/// The object behind `randomx_dataset`.
pub struct Dataset {
    items: Arc<randomx::Dataset>,
    /// Their address.
    start: AtomicPtr<Item>,
    claims: Claims,
    missing: Missing,
}

impl Dataset {
    /// Allocates a dataset. Returns nothing if there is no memory of the kind that `flags` demand.
    pub(crate) fn allocate(flags: Flags) -> Option<Dataset> {
        let mut dataset =
            randomx::Dataset::zeroed().ok().filter(|all| flags.accept(all.pages()))?;
        let start = AtomicPtr::new(dataset.as_mut_ptr());
        let (items, claims, missing) = (Arc::new(dataset), Claims::default(), Missing::default());
        Some(Dataset { items, start, claims, missing })
    }

    /// Returns the address of the memory. From then on, the caller may have written the items.
    pub(crate) fn memory(&self) -> *mut c_void {
        self.missing.allow();
        self.start.load(Ordering::Relaxed).cast()
    }

    /// Computes `count` items, without those past the end. They are missing if there is no cache or it has no
    /// key.
    pub(crate) fn initialize(&self, cache: Option<&Cache>, first: usize, count: usize) {
        let end = first.saturating_add(count).min(randomx::Dataset::ITEMS);
        if first >= end {
            return;
        }
        let compute = |source: &Arc<Items>| {
            // Threads that compute the same items take turns, and hashes wait for all of them.
            self.claims.write(first..end, |Range { start, end }| {
                let place = self.start.load(Ordering::Relaxed).wrapping_add(start);
                // SAFETY: the range is inside the dataset, which lives as long as `self`. The claim
                // guarantees that no other reference to these items exists, and the pointer is the
                // dataset's own for writing.
                let items = unsafe { slice::from_raw_parts_mut(place, end - start) };
                // A panic leaves them missing.
                self.missing.add(start..end);
                source.fill(start as u32, items);
                self.missing.remove(start..end);
            });
        };
        let computed = cache.and_then(|cache| cache.read_own(compute));
        if computed.is_none() {
            self.missing.add(first..end);
        }
    }

    /// Calls `function` with the items while no thread computes any. Returns nothing if items are
    /// missing.
    pub(crate) fn read<T>(&self, function: impl FnOnce(&Arc<randomx::Dataset>) -> T) -> Option<T> {
        self.claims.read(|| self.missing.is_usable().then(|| function(&self.items)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nearly none of its pages is written, so the system gives it little memory. Without as much, tests are skipped.
    fn dataset() -> Option<Dataset> {
        if randomx::Dataset::zeroed().is_err() {
            randomx_testing::say("skipped: the machine has no memory for a dataset");
            return None;
        }
        Some(Dataset::allocate(Flags::from_bits(0)).expect("2080 MiB"))
    }

    fn cache(key: Option<&[u8]>) -> Cache {
        let cache = Cache::allocate(Flags::recommended()).expect("256 MiB");
        key.into_iter().for_each(|key| cache.initialize(key));
        cache
    }

    #[test]
    fn items_that_cannot_be_computed_leave_no_hashes() {
        let Some(dataset) = dataset() else { return };
        let (empty, ready) = (cache(None), cache(Some(b"key")));
        let (empty, ready) = (Some(&empty), Some(&ready));
        let is_usable = || dataset.read(|_| ()).is_some();
        assert!(!is_usable(), "before the first item");
        dataset.initialize(empty, 0, 100);
        assert!(!is_usable());
        dataset.initialize(ready, 0, 100);
        assert!(is_usable());
        for nothing in [(0, 0), (randomx::Dataset::ITEMS, 1)] {
            dataset.initialize(empty, nothing.0, nothing.1);
            assert!(is_usable());
        }
        dataset.initialize(empty, 0, 50);
        dataset.initialize(ready, 50, 50);
        dataset.memory();
        assert!(!is_usable(), "the first half is missing");
        dataset.initialize(ready, 0, 50);
        assert!(is_usable());
        dataset.initialize(None, 0, 50);
        assert!(!is_usable(), "without a cache");
    }

    #[test]
    fn items_may_be_those_of_the_caller() {
        let Some(dataset) = dataset() else { return };
        dataset.memory();
        assert!(dataset.read(|_| ()).is_some());
    }
}
