//! A VM of the C API: a VM of the crate with one lane, which borrows its key for each hash.

use std::sync::{Arc, Mutex};

use randomx::{HASH_SIZE, Item, ItemSource, KeyMemory};

use crate::boundary::has_room;
use crate::cache::Cache;
use crate::dataset::Dataset;
use crate::flags::Flags;

/// The object behind `randomx_vm`. Threads that use one VM wait for each other.
pub struct Vm(Mutex<State>);

struct State {
    flags: Flags,
    vm: randomx::Vm,
    key: Key,
}

/// The memory that a VM reads and keeps alive.
pub(crate) enum Key {
    Cache(Arc<Cache>),
    Dataset(Arc<Dataset>),
}

impl Vm {
    /// Creates a VM. Returns nothing if memory or a feature that `flags` demand is missing.
    pub(crate) fn create(flags: Flags, key: Key) -> Option<Vm> {
        if !flags.suit_vms() || !has_room() {
            return None;
        }
        if let Key::Cache(cache) = &key {
            // Creates the source of items before the first hash, if there is a key already.
            cache.read(flags, |_| ());
        }
        let vm =
            randomx::Vm::with_options(no_key(), flags.version(), flags.options_of_vm()).ok()?;
        flags.accept(vm.pages()).then(|| Vm(Mutex::new(State { flags, vm, key })))
    }

    /// Sets another key of the same kind. Ignores one of the other kind.
    pub(crate) fn set_key(&self, key: Key) {
        let Ok(mut state) = self.0.lock() else { return };
        if matches!(
            (&state.key, &key),
            (Key::Cache(_), Key::Cache(_)) | (Key::Dataset(_), Key::Dataset(_))
        ) {
            state.key = key;
        }
    }

    /// Computes the hash of `input`, and ends a series. No hash without an input or a key.
    pub(crate) fn hash(&self, input: Option<&[u8]>) -> Option<[u8; HASH_SIZE]> {
        let mut state = self.0.lock().ok()?;
        let hash = input.and_then(|input| state.with_key(|vm| vm.hash(input)));
        state.or_abandon(hash)
    }

    /// Begins a series with the hash of `input`, which needs no key yet. Without an input, there is no
    /// series afterwards.
    pub(crate) fn hash_first(&self, input: Option<&[u8]>) {
        let Ok(mut state) = self.0.lock() else { return };
        match input {
            Some(input) => state.vm.hash_first(input),
            None => state.vm.hash_abandon(),
        }
    }

    /// Returns the hash that was begun, and begins that of `next`. A failure ends the series.
    pub(crate) fn hash_next(&self, next: Option<&[u8]>) -> Option<[u8; HASH_SIZE]> {
        let mut state = self.0.lock().ok()?;
        let hash = next.and_then(|next| state.with_key(|vm| vm.hash_next(next)));
        state.or_abandon(hash.flatten())
    }

    /// Returns the hash that was begun, and ends the series.
    pub(crate) fn hash_last(&self) -> Option<[u8; HASH_SIZE]> {
        let mut state = self.0.lock().ok()?;
        let hash = state.with_key(randomx::Vm::hash_last);
        state.or_abandon(hash.flatten())
    }
}

impl State {
    /// Returns a hash. Without one, a series ends.
    fn or_abandon(&mut self, hash: Option<[u8; HASH_SIZE]>) -> Option<[u8; HASH_SIZE]> {
        if hash.is_none() {
            self.vm.hash_abandon();
        }
        hash
    }

    /// Lends the VM its key while `function` hashes. Between hashes the VM has none, so that a cache
    /// can expand another key into the same memory.
    fn with_key<T>(&mut self, function: impl FnOnce(&mut randomx::Vm) -> T) -> Option<T> {
        let State { flags, vm, key, .. } = self;
        let hash = |key: KeyMemory| {
            vm.set_key(key);
            let result = function(vm);
            vm.set_key(no_key());
            result
        };
        match key {
            Key::Cache(cache) => {
                cache.read(*flags, |items| hash(KeyMemory::Items(Arc::clone(items) as _)))
            }
            Key::Dataset(dataset) => {
                dataset.read(|items| hash(KeyMemory::Dataset(Arc::clone(items))))
            }
        }
    }
}

/// The key of a VM between hashes.
#[derive(Debug)]
struct NoKey;

impl ItemSource for NoKey {
    fn compute(&self, _: &[u32], items: &mut [Item]) {
        items.fill([0; 8]);
    }
}

fn no_key() -> KeyMemory {
    KeyMemory::Items(Arc::new(NoKey))
}
