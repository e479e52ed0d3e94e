//! Hashing (specification, section 2).

use crate::clock::Clock;
use crate::host::JsHost;
use crate::{argument, cache::Cache, error::Failure, features};
use js_sys::{Array, Uint8Array};
use randomx::cpu::Cpu;
use randomx::interpreter::{Interpreter, Steps};
use randomx::items::ItemSource;
use randomx::jit::wasm::engine::Jit;
use randomx::{HASH_SIZE, Observer, Version, VmOptions};
use std::sync::Arc;
use wasm_bindgen::{JsCast, prelude::wasm_bindgen};

/// A virtual machine with its lanes' scratchpads (2 MiB each), bound to one cache.
#[wasm_bindgen]
pub struct Vm(randomx::Vm);

#[wasm_bindgen]
impl Vm {
    /// A machine of 1 to 8 `lanes` over `cache`, which stays usable for others. Programs are
    /// `compiled`, or else interpreted; `features` are bits, see `detectFeatures`.
    ///
    /// # Errors
    ///
    /// `invalid-argument` for another number of lanes; `out-of-memory`.
    #[wasm_bindgen(constructor)]
    pub fn new(cache: &Cache, lanes: f64, compiled: bool, features: u32) -> Result<Vm, Failure> {
        let lanes = argument::whole("lanes", lanes)?;
        let options = VmOptions {
            // More than a usize holds is more than the core accepts: let it say so.
            lanes: Some(usize::try_from(lanes).unwrap_or(usize::MAX)),
            ..VmOptions::default()
        };
        let items: Arc<dyn ItemSource> = cache.0.clone();
        let cpu = Cpu::detect();
        let vm =
            if compiled {
                let engine = Jit::new(JsHost, features::from_bits(features), cpu);
                randomx::Vm::with_engine(items, Version::V1, options, engine, |engine| {
                    Ok(engine.code())
                })
            } else {
                let engine = Interpreter::new(cpu);
                randomx::Vm::with_engine(items, Version::V1, options, engine, |_| {
                    Ok(Steps::default())
                })
            };
        Ok(Self(vm?))
    }

    /// The hashes of n `inputs` (at most 1 MiB each) by RandomX `version` 1 or 2, in order, as one
    /// array of 32 n bytes. Lanes step together in groups; the call returns when all are done, so
    /// its length in time is the caller's choice.
    ///
    /// # Errors
    ///
    /// `invalid-argument` for another version, a longer input, or an entry that is no
    /// `Uint8Array`; `out-of-memory`.
    #[wasm_bindgen(js_name = hashMany)]
    pub fn hash_many(&mut self, version: f64, inputs: &Array) -> Result<Vec<u8>, Failure> {
        self.observed(version, inputs, &mut ())
    }

    /// What the hashes of `inputs` spend their time with, in milliseconds: filling scratchpads,
    /// generating programs, compiling them, running them, computing dataset items, and hashing
    /// scratchpads (with filling them for the next hash).
    ///
    /// # Errors
    ///
    /// As `hashMany`.
    pub fn measure(&mut self, version: f64, inputs: &Array) -> Result<Vec<f64>, Failure> {
        let mut clock = Clock::default();
        self.observed(version, inputs, &mut clock)?;
        Ok(clock.milliseconds().to_vec())
    }

    fn observed(
        &mut self,
        version: f64,
        inputs: &Array,
        observer: &mut dyn Observer,
    ) -> Result<Vec<u8>, Failure> {
        self.0.set_version(argument::version("version", version)?);
        let inputs = inputs
            .iter()
            .enumerate()
            .map(|(index, input)| {
                let name = format!("inputs[{index}]");
                let input: &Uint8Array = input.dyn_ref().ok_or_else(|| {
                    Failure::InvalidArgument(format!("{name}: expected a Uint8Array"))
                })?;
                argument::bytes(&name, input)
            })
            .collect::<Result<Vec<_>, _>>()?;
        Ok(self.0.hash_many_observed(&inputs, observer).concat())
    }
}

/// The commitment `Blake2b-256(input || hash)`, 32 bytes, of RandomX v2.
///
/// # Errors
///
/// `invalid-argument` for an input over 1 MiB or a `hash` that is not of 32 bytes.
#[wasm_bindgen]
pub fn commitment(input: &Uint8Array, hash: &Uint8Array) -> Result<Vec<u8>, Failure> {
    let hash: [u8; HASH_SIZE] = argument::hash("hash", hash)?;
    let input = argument::bytes("input", input)?;
    Ok(randomx::calculate_commitment(&input, &hash).to_vec())
}
