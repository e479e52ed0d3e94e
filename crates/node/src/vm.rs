//! VMs, which hash (specification, section 2).

use std::time::Instant;

use napi::bindgen_prelude::{Uint8Array, Uint8ArraySlice};
use napi_derive::napi;
use randomx::{HASH_SIZE, KeyMemory, Observer, PhaseTimes, Version, VmOptions};

use crate::cache::Cache;
use crate::dataset::Dataset;
use crate::error::{Failure, Result};
use crate::owned::Owned;

/// A virtual machine with its lanes' scratchpads (2 MiB each). It uses one cache at a time.
#[napi]
pub struct Vm(Owned<randomx::Vm>);

#[napi]
impl Vm {
    /// Creates a VM of 1 to 8 `lanes` with `cache`, which other VMs can use too. Without `lanes` there are 8, and the
    /// first hashes measure how many together are fastest.
    ///
    /// # Errors
    ///
    /// `invalid-argument` for another number of lanes, or a cache that was freed; `out-of-memory`.
    #[napi(constructor, catch_unwind)]
    pub fn new(cache: &Cache, lanes: Option<u32>) -> Result<Vm> {
        let lanes = lanes.map(|lanes| lanes as usize);
        let options = VmOptions { lanes, ..VmOptions::default() };
        let vm = randomx::Vm::with_options(memory(cache)?, Version::V1, options);
        Ok(Vm(Owned::new(vm.map_err(Failure::vm)?)))
    }

    /// Hashes with another cache from now on.
    ///
    /// # Errors
    ///
    /// `invalid-argument` for a cache that was freed.
    #[napi(catch_unwind)]
    pub fn set_cache(&mut self, cache: &Cache) -> Result<()> {
        let memory = memory(cache)?;
        vm(&mut self.0.lock())?.set_key(memory);
        Ok(())
    }

    /// Hashes with a dataset from now on.
    ///
    /// # Errors
    ///
    /// `invalid-argument` for a dataset that is not complete.
    #[napi(catch_unwind)]
    pub fn set_dataset(&mut self, dataset: &Dataset) -> Result<()> {
        let memory = KeyMemory::Dataset(dataset.ready()?);
        vm(&mut self.0.lock())?.set_key(memory);
        Ok(())
    }

    /// Returns the hashes of n `inputs` by RandomX `version` 1 or 2, in order, as one array of 32 n
    /// bytes. Inputs are hashed in groups of as many as there are lanes. The call returns when all are
    /// hashed, so the caller decides how long it takes.
    ///
    /// # Errors
    ///
    /// `invalid-argument` for another version, or a VM that was freed.
    #[napi(catch_unwind)]
    pub fn hash_many(&mut self, version: u32, inputs: Vec<Uint8ArraySlice>) -> Result<Uint8Array> {
        self.observed(version, &inputs, &mut ())
    }

    /// Hashes `inputs`, and returns the milliseconds of each phase, as `Vm.measure` of the WebAssembly.
    ///
    /// # Errors
    ///
    /// Those of `hashMany`.
    #[napi(catch_unwind)]
    pub fn measure(&mut self, version: u32, inputs: Vec<Uint8ArraySlice>) -> Result<Vec<f64>> {
        let start = Instant::now();
        let mut phases = PhaseTimes::new(|| start.elapsed().as_secs_f64() * 1e3);
        self.observed(version, &inputs, &mut phases)?;
        Ok(phases.times().to_vec())
    }

    /// Frees the scratchpads, and lets go of the cache.
    #[napi(catch_unwind)]
    pub fn free(&mut self) {
        self.0.free();
    }

    fn observed(
        &mut self,
        version: u32,
        inputs: &[Uint8ArraySlice],
        observer: &mut dyn Observer,
    ) -> Result<Uint8Array> {
        let version = match version {
            1 => Version::V1,
            2 => Version::V2,
            other => {
                let complaint = format!("version: expected 1 or 2, got {other}");
                return Err(Failure::invalid_argument(complaint));
            }
        };
        let mut held = self.0.lock();
        let vm = vm(&mut held)?;
        vm.set_version(version);
        let mut joined = Vec::with_capacity(inputs.len() * HASH_SIZE);
        for hash in vm.hash_many_observed(inputs, observer) {
            joined.extend_from_slice(&hash);
        }
        Ok(Uint8Array::new(joined))
    }
}

fn vm(held: &mut Option<randomx::Vm>) -> Result<&mut randomx::Vm> {
    let freed = || Failure::invalid_argument("vm: expected one that is not freed".into());
    held.as_mut().ok_or_else(freed)
}

/// Returns what a VM reads of a cache.
fn memory(cache: &Cache) -> Result<KeyMemory> {
    Ok(KeyMemory::Items(cache.shared()?.items()))
}
