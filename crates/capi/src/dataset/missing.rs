//! The items of a dataset that a caller requested and that are not computed.
//!
//! After a key that could not be set, they are those of the previous key. Threads compute a dataset in
//! any parts and any order, so one part that succeeds does not make up for another.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The items that calls should have computed and did not. A new dataset is usable after its first computed item, or
/// when the caller may have written items itself.
#[derive(Default)]
pub(super) struct Missing {
    /// Ranges that neither overlap nor touch.
    ranges: Mutex<Vec<Range<usize>>>,
    /// Whether the dataset gives hashes. Each hash reads it.
    is_usable: AtomicBool,
}

impl Missing {
    /// Whether the dataset can be used.
    pub(super) fn is_usable(&self) -> bool {
        self.is_usable.load(Ordering::Relaxed)
    }

    /// Adds items.
    pub(super) fn add(&self, items: Range<usize>) {
        let mut ranges = self.lock();
        let mut joined = items;
        ranges.retain(|range| {
            let apart = range.end < joined.start || joined.end < range.start;
            if !apart {
                joined = range.start.min(joined.start)..range.end.max(joined.end);
            }
            apart
        });
        ranges.push(joined);
        self.is_usable.store(false, Ordering::Relaxed);
    }

    /// Makes a dataset usable whose items the caller may have written. Missing items stay missing.
    pub(super) fn allow(&self) {
        self.remove(0..0);
    }

    /// Removes items, missing or not.
    pub(super) fn remove(&self, items: Range<usize>) {
        let mut ranges = self.lock();
        // Backwards: the ranges that are swapped in or pushed come after those that are left.
        for index in (0..ranges.len()).rev() {
            let range = ranges.swap_remove(index);
            let before = range.start..range.end.min(items.start);
            let after = range.start.max(items.end)..range.end;
            ranges.extend([before, after].into_iter().filter(|rest| !rest.is_empty()));
        }
        self.is_usable.store(ranges.is_empty(), Ordering::Relaxed);
    }

    /// Code that holds this lock does not panic, so the ranges are consistent even if it is poisoned.
    fn lock(&self) -> MutexGuard<'_, Vec<Range<usize>>> {
        self.ranges.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dataset_is_usable_after_its_first_part() {
        let missing = Missing::default();
        assert!(!missing.is_usable());
        missing.remove(10..20);
        assert!(missing.is_usable());
    }

    #[test]
    fn a_part_that_succeeds_does_not_make_up_for_another() {
        let missing = Missing::default();
        missing.remove(0..100);
        missing.add(0..50);
        missing.remove(50..100);
        assert!(!missing.is_usable(), "the first half is that of the previous key");
        missing.remove(0..50);
        assert!(missing.is_usable());
    }

    #[test]
    fn missing_items_are_computed_in_any_parts_and_order() {
        for order in [[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2], [2, 0, 3, 1]] {
            for refused in [[0..50, 50..100], [60..100, 0..70], [20..30, 0..100]] {
                let missing = Missing::default();
                refused.iter().for_each(|range| missing.add(range.clone()));
                assert_eq!(missing.lock().len(), 1);
                for (done, quarter) in order.into_iter().enumerate() {
                    assert!(!missing.is_usable(), "{refused:?}, {order:?}, {done}");
                    missing.remove(25 * quarter..25 * (quarter + 1));
                }
                assert!(missing.is_usable(), "{refused:?}, {order:?}");
            }
        }
    }

    #[test]
    fn other_items_do_not_count() {
        let missing = Missing::default();
        missing.add(10..20);
        missing.add(30..40);
        for others in [0..10, 20..30, 40..50, 0..0] {
            missing.remove(others);
            missing.lock().sort_by_key(|range| range.start);
            assert_eq!(*missing.lock(), [10..20, 30..40]);
        }
        missing.remove(15..35);
        assert!(!missing.is_usable());
        missing.remove(0..50);
        assert!(missing.is_usable());
    }
}
