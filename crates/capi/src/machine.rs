//! A VM of the C API: one of the crate's with one lane, that borrows its key for each hash.

use std::sync::{Arc, Mutex};

use randomx::{HASH_SIZE, Item, ItemSource, KeyMemory, Vm};

use crate::boundary::has_room;
use crate::cache::Cache;
use crate::dataset::Dataset;
use crate::flags::Flags;

/// What `randomx_create_vm` makes. The lock is for callers who use one from several threads: they
/// wait for each other.
pub struct Machine(Mutex<State>);

struct State {
    flags: Flags,
    vm: Vm,
    key: Key,
}

/// What a VM reads, kept alive by it.
pub(crate) enum Key {
    Cache(Arc<Cache>),
    Dataset(Arc<Dataset>),
}

impl Machine {
    /// A VM, unless `flags` ask for what this machine lacks or there is no memory.
    pub(crate) fn create(flags: Flags, key: Key) -> Option<Machine> {
        if !flags.suit_vms() || !has_room() {
            return None;
        }
        if let Key::Cache(cache) = &key {
            // Whatever a hash needs is there before the first one, if there is a key already.
            cache.read(flags, |_| ());
        }
        let vm = Vm::with_options(no_key(), flags.version(), flags.options_of_vm()).ok()?;
        flags.accept(vm.pages()).then(|| Machine(Mutex::new(State { flags, vm, key })))
    }

    /// Hashes with another key of the same kind from now on.
    pub(crate) fn set_key(&self, key: Key) {
        let Ok(mut state) = self.0.lock() else { return };
        if matches!(
            (&state.key, &key),
            (Key::Cache(_), Key::Cache(_)) | (Key::Dataset(_), Key::Dataset(_))
        ) {
            state.key = key;
        }
    }

    /// The hash of `input`; none without a key.
    pub(crate) fn hash(&self, input: &[u8]) -> Option<[u8; HASH_SIZE]> {
        self.0.lock().ok()?.with_key(|vm| vm.hash(input))
    }

    /// Begins the hash of `input`, which takes no key yet.
    pub(crate) fn hash_first(&self, input: &[u8]) {
        if let Ok(mut state) = self.0.lock() {
            state.vm.hash_first(input);
        }
    }

    /// The hash that has begun, while that of `next` is.
    pub(crate) fn hash_next(&self, next: &[u8]) -> Option<[u8; HASH_SIZE]> {
        self.0.lock().ok()?.with_key(|vm| vm.hash_next(next))?
    }

    /// The hash that has begun.
    pub(crate) fn hash_last(&self) -> Option<[u8; HASH_SIZE]> {
        self.0.lock().ok()?.with_key(Vm::hash_last)?
    }
}

impl State {
    /// Lends the VM its key while `function` hashes. Between hashes it has none, so that a cache
    /// can be given another key in the same memory.
    fn with_key<T>(&mut self, function: impl FnOnce(&mut Vm) -> T) -> Option<T> {
        let State { flags, vm, key } = self;
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
                Some(dataset.read(|items| hash(KeyMemory::Dataset(Arc::clone(items)))))
            }
        }
    }
}

/// What a VM has between hashes.
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
