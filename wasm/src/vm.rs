//! VMs, which hash (specification, section 2).

use crate::clock::now;
use crate::host::{CacheItems, JsHost};
use crate::{argument, cache::Cache, error::Failure, features, text::entry};
use js_sys::{Array, Uint8Array};
use randomx::cpu::Cpu;
use randomx::interpreter::{Interpreter, Steps};
use randomx::items::ItemSource;
use randomx::jit::wasm::engine::Jit;
use randomx::{HASH_SIZE, Item, Observer, PhaseTimes, Version, VmOptions};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use wasm_bindgen::{JsCast, prelude::wasm_bindgen};

/// A virtual machine with its lanes' scratchpads (2 MiB each). It uses one cache at a time.
#[wasm_bindgen]
pub struct Vm {
    vm: randomx::Vm,
    items: Arc<CurrentItems>,
}

#[wasm_bindgen]
impl Vm {
    /// Creates a VM of 1 to 8 `lanes` with `cache`, which other VMs can use too. Programs are
    /// `compiled`, or else interpreted. `features` are bits; see `detectFeatures`.
    ///
    /// # Errors
    ///
    /// `invalid-argument` for another number of lanes; `out-of-memory`.
    #[wasm_bindgen(constructor)]
    pub fn new(cache: &Cache, lanes: f64, compiled: bool, features: u32) -> Result<Vm, Failure> {
        let lanes = argument::whole("lanes", lanes)?;
        let options = VmOptions {
            // The core refuses a number that a usize cannot hold.
            lanes: Some(usize::try_from(lanes).unwrap_or(usize::MAX)),
            ..VmOptions::default()
        };
        let items = Arc::new(CurrentItems(Mutex::new(cache.0.clone())));
        let source: Arc<dyn ItemSource> = items.clone();
        let cpu = Cpu::detect();
        let vm = if compiled {
            let engine = Jit::new(JsHost, features::from_bits(features), cpu);
            randomx::Vm::with_engine(source, Version::V1, options, engine, |engine| {
                Ok(engine.code())
            })
        } else {
            let engine = Interpreter::new(cpu);
            randomx::Vm::with_engine(source, Version::V1, options, engine, |_| Ok(Steps::default()))
        };
        Ok(Self { vm: vm?, items })
    }

    /// Hashes with another cache from now on.
    #[wasm_bindgen(js_name = setCache)]
    pub fn set_cache(&mut self, cache: &Cache) {
        *self.items.current() = cache.0.clone();
    }

    /// Returns the hashes of n `inputs` (at most 1 MiB each) by RandomX `version` 1 or 2, in order, as
    /// one array of 32 n bytes. Inputs are hashed in groups of as many as there are lanes. The call
    /// returns when all are hashed, so the caller decides how long it takes.
    ///
    /// # Errors
    ///
    /// `invalid-argument` for another version, a longer input, or an entry that is not a
    /// `Uint8Array`; `out-of-memory`.
    #[wasm_bindgen(js_name = hashMany)]
    pub fn hash_many(&mut self, version: f64, inputs: &Array) -> Result<Vec<u8>, Failure> {
        self.observed(version, inputs, &mut ())
    }

    /// Hashes `inputs`, and returns the milliseconds of each phase: filling scratchpads, generating
    /// programs, compiling them, running them, computing dataset items, and hashing scratchpads (which
    /// also fills them for the next hash).
    ///
    /// # Errors
    ///
    /// Those of `hashMany`.
    pub fn measure(&mut self, version: f64, inputs: &Array) -> Result<Vec<f64>, Failure> {
        let mut phases = PhaseTimes::new(now);
        self.observed(version, inputs, &mut phases)?;
        Ok(phases.times().to_vec())
    }

    fn observed(
        &mut self,
        version: f64,
        inputs: &Array,
        observer: &mut dyn Observer,
    ) -> Result<Vec<u8>, Failure> {
        self.vm.set_version(argument::version("version", version)?);
        let inputs = inputs
            .iter()
            .enumerate()
            .map(|(index, input)| {
                let name = entry("inputs", index);
                let input: &Uint8Array = input.dyn_ref().ok_or_else(|| {
                    Failure::InvalidArgument([&name, ": expected a Uint8Array"].concat())
                })?;
                argument::bytes(&name, input)
            })
            .collect::<Result<Vec<_>, _>>()?;
        Ok(self.vm.hash_many_observed(&inputs, observer).concat())
    }
}

/// Computes items from the cache that the VM uses now.
///
/// `randomx::Vm::set_key` would add 26 KB of code for other kinds of keys to the download.
struct CurrentItems(Mutex<Arc<CacheItems>>);

impl CurrentItems {
    fn current(&self) -> MutexGuard<'_, Arc<CacheItems>> {
        // `lock` would add the code of its panic message to the download.
        match self.0.try_lock() {
            Ok(items) => items,
            Err(TryLockError::Poisoned(error)) => error.into_inner(),
            Err(TryLockError::WouldBlock) => unreachable!("a module has one thread"),
        }
    }
}

/// Not derived, because that adds 10 KB of code to the download.
impl fmt::Debug for CurrentItems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CurrentItems")
    }
}

impl ItemSource for CurrentItems {
    fn compute(&self, numbers: &[u32], items: &mut [Item]) {
        self.current().compute(numbers, items);
    }
}

/// Returns the commitment `Blake2b-256(input || hash)`, 32 bytes, of RandomX v2.
///
/// # Errors
///
/// `invalid-argument` for an input over 1 MiB or a `hash` of another length than 32 bytes.
#[wasm_bindgen]
pub fn commitment(input: &Uint8Array, hash: &Uint8Array) -> Result<Vec<u8>, Failure> {
    let hash: [u8; HASH_SIZE] = argument::hash("hash", hash)?;
    let input = argument::bytes("input", input)?;
    Ok(randomx::calculate_commitment(&input, &hash).to_vec())
}
