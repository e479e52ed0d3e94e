//! Expanding keys and hashing: RandomX, behind a trait so that tests can schedule work without
//! filling caches.

use std::{ops::ControlFlow, sync::Arc};

use randomx::{
    Cache, CacheBuilder, Dataset, DatasetBuilder, KeyMemory, MAX_LANES, Version, Vm, VmError,
    VmOptions, items::Items,
};

use crate::{error::Error, mode::Mode, progress::KeyBar};

pub(crate) type Hash = [u8; randomx::HASH_SIZE];

/// Expands keys and hashes inputs.
pub(crate) trait Backend: Sync {
    /// The memory of a key. Clones share it.
    type Key: Clone + Send + Sync;
    type Vm: Send;

    /// How many keys are held at most.
    fn max_keys(&self) -> usize;

    /// Expands a key, and moves the bar meanwhile. Fails soon after `is_stopped` returns true, if the rest would take
    /// long.
    fn expand(
        &self,
        key: &[u8],
        bar: &KeyBar,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Self::Key, Error>;

    /// Creates the VM of a thread that hashes up to `lanes` inputs together.
    fn vm(&self, key: &Self::Key, lanes: usize) -> Result<Self::Vm, VmError>;

    fn set_key(vm: &mut Self::Vm, key: Self::Key);

    fn hash(vm: &mut Self::Vm, version: Version, inputs: &[&[u8]]) -> Vec<Hash>;
}

/// RandomX in one of its modes.
pub(crate) struct RandomX {
    pub(crate) mode: Mode,
    /// Threads that compute a dataset.
    pub(crate) threads: usize,
    pub(crate) options: VmOptions,
}

impl Backend for RandomX {
    type Key = KeyMemory;
    type Vm = Vm;

    fn max_keys(&self) -> usize {
        match self.mode {
            // Where the seed hash changes, blocks of the old and the new one can alternate.
            Mode::Light => 2,
            Mode::Fast => 1,
        }
    }

    fn expand(
        &self,
        key: &[u8],
        bar: &KeyBar,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<KeyMemory, Error> {
        match self.mode {
            Mode::Light => {
                let items = items(Arc::new(self.cache(key, bar)?), self.options)?;
                Ok(KeyMemory::Items(Arc::new(items)))
            }
            Mode::Fast => Ok(Arc::new(self.dataset(key, bar, is_stopped)?).into()),
        }
    }

    fn vm(&self, key: &KeyMemory, lanes: usize) -> Result<Vm, VmError> {
        let options = for_inputs(self.options, self.mode, lanes);
        Vm::with_options(key.clone(), Version::default(), options)
    }

    fn set_key(vm: &mut Vm, key: KeyMemory) {
        vm.set_key(key);
    }

    fn hash(vm: &mut Vm, version: Version, inputs: &[&[u8]]) -> Vec<Hash> {
        vm.set_version(version);
        vm.hash_many(inputs)
    }
}

impl RandomX {
    /// Fills the cache of a key.
    pub(crate) fn cache(&self, key: &[u8], bar: &KeyBar) -> Result<Cache, Error> {
        /// Blocks between two moves of the bar: some tens of moves a second.
        const STEP: usize = CacheBuilder::BLOCKS / 48;
        let mut builder = CacheBuilder::new(key, self.options.cpu)?;
        while !builder.fill(STEP) {
            bar.filled(builder.filled());
        }
        Ok(builder.finish())
    }

    /// Computes the dataset of a key. The cache that it is computed from is dropped.
    fn dataset(
        &self,
        key: &[u8],
        bar: &KeyBar,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Dataset, Error> {
        // Allocates first, so that running out of memory shows early.
        let builder = DatasetBuilder::new(self.threads)?;
        let items = items(Arc::new(self.cache(key, bar)?), self.options)?;
        let dataset = builder.fill(&items, |computed| {
            bar.computed(computed);
            if is_stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        Ok(dataset?)
    }
}

/// The options of a VM that is given up to `most` inputs at once. Unless `options` sets it, the number of lanes is
/// measured, if there are enough inputs for the most lanes.
pub(crate) fn for_inputs(options: VmOptions, mode: Mode, most: usize) -> VmOptions {
    let lanes = match mode {
        // One input needs one scratchpad.
        Mode::Light if most < MAX_LANES => Some(most),
        _ => options.lanes,
    };
    VmOptions { lanes, ..options }
}

/// Dataset items of a cache, with the same options as a VM.
pub(crate) fn items(cache: Arc<Cache>, options: VmOptions) -> Result<Items, Error> {
    Items::with_options(cache, options.into()).map_err(|problem| Error::Vm(problem.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_are_measured_unless_they_are_set_or_inputs_are_few() {
        let of = |lanes, mode, most| {
            for_inputs(VmOptions { lanes, ..VmOptions::default() }, mode, most).lanes
        };
        assert_eq!(of(None, Mode::Light, MAX_LANES), None);
        assert_eq!(of(None, Mode::Light, 1), Some(1));
        assert_eq!(of(Some(MAX_LANES), Mode::Light, MAX_LANES), Some(MAX_LANES));
        assert_eq!(of(Some(4), Mode::Light, 4), Some(4));
        assert_eq!(of(None, Mode::Fast, 1), None);
        assert_eq!(of(Some(4), Mode::Fast, 1), Some(4));
    }
}
