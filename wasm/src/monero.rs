//! Monero's rules around a hash.

use crate::{argument, error::Failure};
use js_sys::Uint8Array;
use randomx_monero::Difficulty;
use wasm_bindgen::prelude::wasm_bindgen;

/// Whether `hash` (32 bytes), as a little-endian integer, times `difficulty` (decimal digits,
/// 1 to 2^256 - 1) is below 2^256.
///
/// # Errors
///
/// `invalid-argument` for a hash of another length or another difficulty.
#[wasm_bindgen(js_name = meetsDifficulty)]
pub fn meets_difficulty(hash: &Uint8Array, difficulty: &str) -> Result<bool, Failure> {
    let hash = argument::hash("hash", hash)?;
    let difficulty: Difficulty = difficulty
        .parse()
        .map_err(|error| Failure::InvalidArgument(format!("difficulty: {error}")))?;
    Ok(difficulty.is_met_by(&hash))
}

/// The height of the block whose id is the key for the block at `height`.
///
/// # Errors
///
/// `invalid-argument` for what is not a whole number from 0 to 2^53 - 1.
#[wasm_bindgen(js_name = seedHeight)]
pub fn seed_height(height: f64) -> Result<f64, Failure> {
    // At most its argument, so as exact in a double as that was.
    Ok(randomx_monero::seed_height(argument::whole("height", height)?) as f64)
}
