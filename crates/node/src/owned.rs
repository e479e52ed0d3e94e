//! Values that JavaScript objects own. They are dropped when their thread ends, at the latest: Deno ends a
//! worker without finalizing its objects.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// A value that an object owns until it is freed.
pub(crate) struct Owned<T>(Arc<Mutex<Option<T>>>);

impl<T: Send + 'static> Owned<T> {
    pub(crate) fn new(value: T) -> Owned<T> {
        let value = Arc::new(Mutex::new(Some(value)));
        let listed: Weak<Mutex<Option<T>>> = Arc::downgrade(&value);
        OF_THREAD.with_borrow_mut(|OfThread(values)| {
            values.retain(|value| value.strong_count() > 0);
            values.push(listed);
        });
        Owned(value)
    }

    /// Locks the value, which is `None` after it was freed.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Option<T>> {
        lock(&self.0)
    }

    /// Drops the value.
    pub(crate) fn free(&self) {
        self.0.free();
    }
}

/// An [`Owned`] of any type, so that one list holds all values of a thread.
trait Free {
    fn free(&self);
}

impl<T> Free for Mutex<Option<T>> {
    fn free(&self) {
        *lock(self) = None;
    }
}

/// The values that objects of one thread own.
struct OfThread(Vec<Weak<dyn Free>>);

impl Drop for OfThread {
    fn drop(&mut self) {
        for value in self.0.iter().filter_map(Weak::upgrade) {
            value.free();
        }
    }
}

thread_local! {
    static OF_THREAD: RefCell<OfThread> = const { RefCell::new(OfThread(Vec::new())) };
}

fn lock<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    // A call that panics poisons the mutex. The add-on catches the panic, and must still free the value.
    value.lock().unwrap_or_else(PoisonError::into_inner)
}
