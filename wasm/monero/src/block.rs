//! One block by itself.

use js_sys::Uint8Array;
use randomx_monero::Candidate;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::argument::{self, InvalidArgument};
use crate::object::{self, PlainCheck, PlainExamination};

/// The height of the block whose id is the key for the block at `height`.
///
/// # Errors
///
/// For what is not a whole number from 0 to 2^53 - 1.
#[wasm_bindgen(js_name = seedHeight)]
pub fn seed_height(height: f64) -> Result<f64, InvalidArgument> {
    // At most its argument, so as exact in a double as that was.
    Ok(randomx_monero::seed_height(argument::whole("height", height)?) as f64)
}

/// Whether `hash` (32 bytes), as a little-endian integer, times `difficulty` (decimal digits,
/// 1 to 2^256 - 1) is below 2^256.
///
/// # Errors
///
/// For a hash of another length or another difficulty.
#[wasm_bindgen(js_name = meetsDifficulty)]
pub fn meets_difficulty(hash: &Uint8Array, difficulty: &str) -> Result<bool, InvalidArgument> {
    let hash = argument::hash("hash", hash)?;
    Ok(argument::difficulty("difficulty", difficulty)?.is_met_by(&hash))
}

/// The check of a block's RandomX hash, as [`meets_difficulty`] makes it.
///
/// # Errors
///
/// For a hash of another length or another difficulty.
#[wasm_bindgen(js_name = proofOfWork)]
pub fn proof_of_work(hash: &Uint8Array, difficulty: &str) -> Result<PlainCheck, InvalidArgument> {
    let hash = argument::hash("hash", hash)?;
    let difficulty = argument::difficulty("difficulty", difficulty)?;
    Ok(object::check(&randomx_monero::proof_of_work(&hash, &difficulty)))
}

/// Looks at a block by itself: see `randomx_monero::examine`. A block that cannot be read is no
/// error but a check that fails.
///
/// # Errors
///
/// For more than 1 MiB, an id of another length, an unknown network or a height that is none.
#[wasm_bindgen]
pub fn examine(
    block: Option<Uint8Array>,
    hashing_blob: Option<Uint8Array>,
    id: Option<Uint8Array>,
    height: Option<f64>,
    network: &str,
) -> Result<PlainExamination, InvalidArgument> {
    let block = argument::optional("block", block.as_ref(), argument::bytes)?;
    let hashing_blob = argument::optional("hashingBlob", hashing_blob.as_ref(), argument::bytes)?;
    let candidate = Candidate {
        block: block.as_deref(),
        hashing_blob: hashing_blob.as_deref(),
        id: argument::optional("expectedId", id.as_ref(), argument::hash)?,
        height: argument::optional("height", height, argument::whole)?,
    };
    let network = argument::network("network", network)?;
    Ok(object::examination(&randomx_monero::examine(&candidate, network)))
}
