//! A lock for the items of a dataset: any number of readers, or writers of different parts.

use std::ops::Range;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The lock of a dataset's items.
#[derive(Default)]
pub(super) struct Claims {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    readers: usize,
    written: Vec<Range<usize>>,
}

impl Claims {
    /// Waits for all writers, then calls `function`; new writers wait for it.
    pub(super) fn read<T>(&self, function: impl FnOnce() -> T) -> T {
        let mut state = self.wait_until(|state| state.written.is_empty());
        state.readers += 1;
        drop(state);
        let _reader = OnDrop(|| {
            let mut state = self.lock();
            state.readers -= 1;
            if state.readers == 0 {
                self.changed.notify_all();
            }
        });
        function()
    }

    /// Waits for all readers and for writers of the same items, then calls `function` with `items`; new
    /// ones wait for it.
    pub(super) fn write<T>(
        &self,
        items: Range<usize>,
        function: impl FnOnce(Range<usize>) -> T,
    ) -> T {
        let overlaps = |other: &Range<usize>| other.start < items.end && items.start < other.end;
        let mut state =
            self.wait_until(|state| state.readers == 0 && !state.written.iter().any(overlaps));
        state.written.push(items.clone());
        drop(state);
        let _writer = OnDrop(|| {
            // Equal claims would overlap, so this removes only one.
            self.lock().written.retain(|claim| *claim != items);
            self.changed.notify_all();
        });
        function(items.clone())
    }

    fn wait_until(&self, ready: impl Fn(&State) -> bool) -> MutexGuard<'_, State> {
        let state = self.changed.wait_while(self.lock(), |state| !ready(state));
        state.unwrap_or_else(PoisonError::into_inner)
    }

    /// Code that holds this lock does not panic, so the state is consistent even if it is poisoned.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends a claim even if its function panics.
struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}
