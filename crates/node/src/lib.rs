//! RandomX for the npm package `randomx-web` in Node, Deno and Bun: the native counterpart of the
//! crate `randomx-wasm`.
//!
//! A thin layer. Workers of the package call it, so its calls may block their thread: each is bounded,
//! and a worker reads its messages in between. Errors are JavaScript `Error`s with the code
//! `invalid-argument`, `out-of-memory` or `worker-failed`. Those of the library that converts arguments have a status
//! of Node-API: `InvalidArg` or one that ends with `Expected` for a value of another type, and `GenericFailure` for a
//! panic. The package turns them into its own codes.

#![deny(unsafe_code)]

pub mod cache;
pub mod caches;
pub mod dataset;
pub mod datasets;
pub mod error;
mod owned;
pub mod priority;
mod registry;
pub mod vm;

use napi::bindgen_prelude::{Uint8Array, Uint8ArraySlice};
use napi_derive::napi;
use randomx::{Cpu, HASH_SIZE, Implementations};

use error::{Failure, Result};

/// Returns the version of this add-on, which is the one of its package.
#[napi(catch_unwind)]
pub fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// Returns the implementation of each primitive that this processor gets, as one line.
#[napi(catch_unwind)]
pub fn implementations() -> String {
    Implementations::new(Cpu::detect()).to_string()
}

/// Returns the commitment `Blake2b-256(input || hash)`, 32 bytes, of RandomX v2.
///
/// # Errors
///
/// `invalid-argument` for a `hash` of another length than 32 bytes.
#[napi(catch_unwind)]
pub fn commitment(input: Uint8ArraySlice, hash: Uint8ArraySlice) -> Result<Uint8Array> {
    let length = hash.len();
    let hash: &[u8; HASH_SIZE] = hash.as_ref().try_into().map_err(|_| {
        Failure::invalid_argument(format!("hash: expected {HASH_SIZE} bytes, got {length} bytes"))
    })?;
    Ok(Uint8Array::new(randomx::calculate_commitment(&input, hash).to_vec()))
}
