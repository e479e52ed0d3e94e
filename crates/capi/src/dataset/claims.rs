//! A lock for the items of a dataset: any number of readers, or writers of different parts.
//!
//! New readers wait for waiting writers, so that readers who take turns do not keep a writer waiting
//! forever. Therefore a function that reads must not read again inside.

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
    /// Writers that wait for their items.
    waiting: usize,
    written: Vec<Range<usize>>,
}

impl Claims {
    /// Waits for all writers, waiting ones included, then calls `function`; new writers wait for it.
    pub(super) fn read<T>(&self, function: impl FnOnce() -> T) -> T {
        let is_free = |state: &State| state.waiting == 0 && state.written.is_empty();
        let mut state = self.wait_until(self.lock(), is_free);
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
        let is_free = |state: &State| state.readers == 0 && !state.written.iter().any(overlaps);
        let mut state = self.lock();
        state.waiting += 1;
        let mut state = self.wait_until(state, is_free);
        state.waiting -= 1;
        state.written.push(items.clone());
        drop(state);
        let _writer = OnDrop(|| {
            // Equal claims would overlap, so this removes only one.
            self.lock().written.retain(|claim| *claim != items);
            self.changed.notify_all();
        });
        function(items.clone())
    }

    fn wait_until<'a>(
        &self,
        state: MutexGuard<'a, State>,
        ready: impl Fn(&State) -> bool,
    ) -> MutexGuard<'a, State> {
        let state = self.changed.wait_while(state, |state| !ready(state));
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

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn threads_that_read_in_a_loop_do_not_keep_a_writer_waiting() {
        const READERS: usize = 8;
        let (claims, written) = (Claims::default(), AtomicBool::new(false));
        let started = Barrier::new(READERS + 1);
        let end = Instant::now() + Duration::from_secs(5);
        thread::scope(|scope| {
            for _ in 0..READERS {
                scope.spawn(|| {
                    claims.read(|| started.wait());
                    while !written.load(Ordering::Relaxed) && Instant::now() < end {
                        claims.read(|| thread::sleep(Duration::from_millis(2)));
                    }
                });
            }
            started.wait();
            claims.write(0..1, |_| written.store(true, Ordering::Relaxed));
            assert!(Instant::now() < end, "the writer waited until the readers gave up");
        });
    }
}
