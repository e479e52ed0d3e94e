//! Values that workers of this process share. A value lives as long as a worker holds it. If a process loads the
//! add-on from two files, each copy has its own values.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// A value that workers share.
pub(crate) trait Value {
    /// Returns whether workers can use the value, now or later.
    fn is_usable(&self) -> bool {
        true
    }
}

/// The usable values that workers hold.
pub(crate) struct Registry<T>(Mutex<Vec<Weak<T>>>);

impl<T: Value> Registry<T> {
    pub(crate) const fn new() -> Registry<T> {
        Registry(Mutex::new(Vec::new()))
    }

    /// Locks the registry, so that a search and the addition after it are one step.
    pub(crate) fn lock(&self) -> Held<'_, T> {
        // A panic leaves the list as it is before or after a change.
        let mut values = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        values.retain(|value| value.upgrade().is_some_and(|value| value.is_usable()));
        Held(values)
    }
}

/// A locked registry.
pub(crate) struct Held<'a, T>(MutexGuard<'a, Vec<Weak<T>>>);

impl<T: Value> Held<'_, T> {
    /// Returns the value that was added last of those that are wanted, if a worker holds one.
    pub(crate) fn find(&self, is_wanted: impl Fn(&T) -> bool) -> Option<Arc<T>> {
        self.0.iter().rev().filter_map(Weak::upgrade).find(|value| is_wanted(value))
    }

    /// Returns the number of values that workers hold.
    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    /// Returns the number of such values.
    pub(crate) fn count_of(&self, is_such: impl Fn(&T) -> bool) -> usize {
        self.0.iter().filter_map(Weak::upgrade).filter(|value| is_such(value)).count()
    }

    /// Lets workers find a value.
    pub(crate) fn add(&mut self, value: &Arc<T>) {
        self.0.push(Arc::downgrade(value));
    }
}
