//! The edge to the `randomx` crate: a trait, so that the spreading of work is tested without
//! filling caches, and its one real implementation.

use std::{ops::ControlFlow, sync::Arc};

use randomx::{
    Cache, CacheBuilder, Dataset, DatasetBuilder, KeyMemory, MAX_LANES, Version, Vm, VmError,
    VmOptions, items::Items,
};

use crate::{args::Mode, error::Error, progress::KeyBar};

pub(crate) type Hash = [u8; randomx::HASH_SIZE];

/// What expands keys and computes hashes.
pub(crate) trait Machine {
    /// What a key is expanded to.
    type Key: Sync;
    type Vm: Send;

    /// Expands a key, and moves the bar meanwhile.
    fn expand(&self, key: &[u8], bar: &KeyBar) -> Result<Self::Key, Error>;

    /// Makes one thread's VM, which will be given at most `batch` inputs at once.
    fn vm(&self, key: &Self::Key, batch: usize) -> Result<Self::Vm, VmError>;

    /// Hashes inputs.
    fn hash(vm: &mut Self::Vm, version: Version, inputs: &[&[u8]]) -> Vec<Hash>;
}

/// RandomX in one of its modes.
pub(crate) struct RandomX {
    pub(crate) mode: Mode,
    /// Threads that compute a dataset.
    pub(crate) threads: usize,
    pub(crate) options: VmOptions,
}

impl Machine for RandomX {
    type Key = KeyMemory;
    type Vm = Vm;

    fn expand(&self, key: &[u8], bar: &KeyBar) -> Result<KeyMemory, Error> {
        match self.mode {
            Mode::Light => {
                let items = items(Arc::new(self.cache(key, bar)?), self.options)?;
                Ok(KeyMemory::Items(Arc::new(items)))
            }
            Mode::Fast => Ok(Arc::new(self.dataset(key, bar)?).into()),
        }
    }

    fn vm(&self, key: &KeyMemory, batch: usize) -> Result<Vm, VmError> {
        let lanes = match self.mode {
            // No more scratchpads than there are inputs.
            Mode::Light if batch < MAX_LANES => Some(batch),
            _ => self.options.lanes,
        };
        let options = VmOptions { lanes, ..self.options };
        Vm::with_options(key.clone(), Version::default(), options)
    }

    fn hash(vm: &mut Vm, version: Version, inputs: &[&[u8]]) -> Vec<Hash> {
        vm.set_version(version);
        vm.hash_many(inputs)
    }
}

impl RandomX {
    pub(crate) fn cache(&self, key: &[u8], bar: &KeyBar) -> Result<Cache, Error> {
        /// Some tens of steps a second.
        const STEP: usize = CacheBuilder::BLOCKS / 48;
        let mut builder = CacheBuilder::new(key, self.options.cpu)?;
        while !builder.fill(STEP) {
            bar.filled(builder.filled());
        }
        Ok(builder.finish())
    }

    /// The dataset of a key; the cache that it is computed from is not kept.
    fn dataset(&self, key: &[u8], bar: &KeyBar) -> Result<Dataset, Error> {
        // Whether there is room should be known before the work of filling a cache.
        let builder = DatasetBuilder::new(self.threads)?;
        let items = items(Arc::new(self.cache(key, bar)?), self.options)?;
        let dataset = builder.fill(&items, |computed| {
            bar.computed(computed);
            ControlFlow::Continue(())
        });
        Ok(dataset?)
    }
}

/// What computes the items of a cache, by the same options as a VM.
pub(crate) fn items(cache: Arc<Cache>, options: VmOptions) -> Result<Items, Error> {
    Items::with_options(cache, options.into()).map_err(|problem| Error::Vm(problem.into()))
}
