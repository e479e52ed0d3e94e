//! The edge to the `randomx` crate: a trait, so that the spreading of work is tested without
//! filling caches, and its one real implementation.

use std::sync::Arc;

use randomx::cpu::Cpu;
use randomx::{CacheBuilder, CacheError, EngineChoice, Version, Vm, VmError, VmOptions};

pub(crate) type Hash = [u8; randomx::HASH_SIZE];

/// What fills caches and computes hashes.
pub(crate) trait Machine {
    type Cache;
    type Vm: Send;

    /// Fills the cache of a key; calls `filled` now and then with the part done, in blocks of
    /// [`CacheBuilder::BLOCKS`].
    fn cache(&self, key: &[u8], filled: impl FnMut(usize)) -> Result<Self::Cache, CacheError>;

    /// Makes one thread's VM.
    fn vm(&self, cache: &Arc<Self::Cache>, lanes: usize) -> Result<Self::Vm, VmError>;

    /// Hashes at most as many inputs as the VM has lanes.
    fn hash(vm: &mut Self::Vm, version: Version, inputs: &[&[u8]]) -> Vec<Hash>;
}

/// RandomX in light mode.
pub(crate) struct Light {
    pub(crate) engine: EngineChoice,
}

impl Machine for Light {
    type Cache = randomx::Cache;
    type Vm = Vm;

    fn cache(&self, key: &[u8], mut filled: impl FnMut(usize)) -> Result<Self::Cache, CacheError> {
        /// Some tens of steps a second.
        const STEP: usize = CacheBuilder::BLOCKS / 48;
        let mut builder = CacheBuilder::new(key, Cpu::detect())?;
        while !builder.fill(STEP) {
            filled(builder.filled());
        }
        Ok(builder.finish())
    }

    fn vm(&self, cache: &Arc<Self::Cache>, lanes: usize) -> Result<Vm, VmError> {
        let options = VmOptions { lanes: Some(lanes), engine: self.engine, ..VmOptions::default() };
        Vm::with_options(Arc::clone(cache), Version::default(), options)
    }

    fn hash(vm: &mut Vm, version: Version, inputs: &[&[u8]]) -> Vec<Hash> {
        vm.set_version(version);
        vm.hash_many(inputs)
    }
}
