//! VMs, which hash (specification, section 2).

use std::time::Instant;

use napi::bindgen_prelude::{Array, Uint8Array, Uint8ArraySlice};
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
    /// `invalid-argument` for another version, inputs that are no `Uint8Array`s, or a VM that was freed.
    #[napi(catch_unwind)]
    pub fn hash_many(&mut self, version: f64, inputs: Array<'_>) -> Result<Uint8Array> {
        self.observed(version, &inputs, &mut ())
    }

    /// Hashes `inputs`, and returns the milliseconds of each phase, as `Vm.measure` of the WebAssembly.
    ///
    /// # Errors
    ///
    /// Those of `hashMany`.
    #[napi(catch_unwind)]
    pub fn measure(&mut self, version: f64, inputs: Array<'_>) -> Result<Vec<f64>> {
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
        version: f64,
        inputs: &Array<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Uint8Array> {
        // A conversion to an integer would turn 257 or 1.5 into 1.
        let version = if version == 1.0 {
            Version::V1
        } else if version == 2.0 {
            Version::V2
        } else {
            let complaint = format!("version: expected 1 or 2, got {version}");
            return Err(Failure::invalid_argument(complaint));
        };
        let inputs = copied(inputs)?;
        let mut held = self.0.lock();
        let vm = vm(&mut held)?;
        vm.set_version(version);
        let mut joined = Vec::with_capacity(inputs.len() * HASH_SIZE);
        for hash in vm.hash_many_observed(&inputs, observer) {
            joined.extend_from_slice(&hash);
        }
        Ok(Uint8Array::new(joined))
    }
}

fn vm(held: &mut Option<randomx::Vm>) -> Result<&mut randomx::Vm> {
    let freed = "vm: expected one in use, got one that was freed";
    held.as_mut().ok_or_else(|| Failure::invalid_argument(freed.into()))
}

/// Copies inputs. Each is copied before the next is read, because reading may run a getter that takes the memory of
/// another away.
fn copied(inputs: &Array<'_>) -> Result<Vec<Vec<u8>>> {
    let copy = |index| {
        let input = inputs.get::<Uint8ArraySlice>(index).ok().flatten();
        let input = input.map(|input| input.to_vec());
        let complaint = || format!("inputs[{index}]: expected a Uint8Array, got another value");
        input.ok_or_else(|| Failure::invalid_argument(complaint()))
    };
    (0..inputs.len()).map(copy).collect()
}

/// Returns what a VM reads of a cache.
fn memory(cache: &Cache) -> Result<KeyMemory> {
    Ok(KeyMemory::Items(cache.shared()?.items()))
}
