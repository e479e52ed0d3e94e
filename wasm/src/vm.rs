//! Hashing (specification, section 2).

use crate::{argument, cache::Cache, error::Failure};
use js_sys::{Array, Uint8Array};
use randomx::{HASH_SIZE, Version, VmOptions};
use std::sync::Arc;
use wasm_bindgen::{JsCast, prelude::wasm_bindgen};

/// A virtual machine with its lanes' scratchpads (2 MiB each), bound to one cache.
#[wasm_bindgen]
pub struct Vm(randomx::Vm);

#[wasm_bindgen]
impl Vm {
    /// A machine of 1 to 8 `lanes` over `cache`, which stays usable for others.
    ///
    /// # Errors
    ///
    /// `invalid-argument` for another number of lanes; `out-of-memory`.
    #[wasm_bindgen(constructor)]
    pub fn new(cache: &Cache, lanes: f64) -> Result<Vm, Failure> {
        let lanes = argument::whole("lanes", lanes)?;
        let options = VmOptions {
            // More than a usize holds is more than the core accepts: let it say so.
            lanes: Some(usize::try_from(lanes).unwrap_or(usize::MAX)),
            ..VmOptions::default()
        };
        let vm = randomx::Vm::with_options(Arc::clone(&cache.0), Version::V1, options)?;
        Ok(Self(vm))
    }

    /// The hash (32 bytes) of `input` (at most 1 MiB) by RandomX `version` 1 or 2.
    ///
    /// # Errors
    ///
    /// `invalid-argument` for another version or a longer input; `out-of-memory`.
    pub fn hash(&mut self, version: f64, input: &Uint8Array) -> Result<Vec<u8>, Failure> {
        self.0.set_version(argument::version("version", version)?);
        let input = argument::bytes("input", input)?;
        Ok(self.0.hash(&input).to_vec())
    }

    /// The hashes of n `inputs`, in order, as one array of 32 n bytes. Lanes step together in
    /// groups; the call returns when all are done, so its length in time is the caller's choice.
    ///
    /// # Errors
    ///
    /// As `hash`; an entry that is no `Uint8Array` is an `invalid-argument`.
    #[wasm_bindgen(js_name = hashMany)]
    pub fn hash_many(&mut self, version: f64, inputs: &Array) -> Result<Vec<u8>, Failure> {
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
        Ok(self.0.hash_many(&inputs).concat())
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
