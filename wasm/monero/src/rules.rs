//! Checks of numbers and hashes, without a block.

use js_sys::Uint8Array;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::argument::{self, InvalidArgument};
use crate::object::{self, PlainCheck};

/// Returns the height of the block whose id is the key for the block at `height`.
///
/// # Errors
///
/// If the height is not a whole number from 0 to 2^53 - 1.
#[wasm_bindgen(js_name = seedHeight)]
pub fn seed_height(height: f64) -> Result<f64, InvalidArgument> {
    // Not greater than the argument, so a double holds it exactly.
    Ok(randomx_monero::seed_height(argument::whole("height", height)?) as f64)
}

/// Returns whether `hash` (32 bytes), as a little-endian integer, times `difficulty` (decimal digits,
/// 1 to 2^256 - 1) is below 2^256.
///
/// # Errors
///
/// If the hash has another length or the difficulty is invalid.
#[wasm_bindgen(js_name = meetsDifficulty)]
pub fn meets_difficulty(hash: &Uint8Array, difficulty: &str) -> Result<bool, InvalidArgument> {
    let hash = argument::hash("hash", hash)?;
    Ok(argument::difficulty("difficulty", difficulty)?.is_met_by(&hash))
}

/// Returns the check of a block's RandomX hash; see [`meets_difficulty`].
///
/// # Errors
///
/// If the hash has another length or the difficulty is invalid.
#[wasm_bindgen(js_name = proofOfWork)]
pub fn proof_of_work(hash: &Uint8Array, difficulty: &str) -> Result<PlainCheck, InvalidArgument> {
    let hash = argument::hash("hash", hash)?;
    let difficulty = argument::difficulty("difficulty", difficulty)?;
    Ok(object::check(&randomx_monero::proof_of_work(&hash, &difficulty)))
}
