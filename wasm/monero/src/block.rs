//! Checks of one block by itself.

use js_sys::Uint8Array;
use randomx_monero::{Block, Candidate, Transaction};
use wasm_bindgen::prelude::wasm_bindgen;

use crate::argument::{self, InvalidArgument};
use crate::object::{self, PlainCheck, PlainExamination};

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

/// Tells whether `hash` (32 bytes), as a little-endian integer, times `difficulty` (decimal digits,
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

/// Checks a block by itself; see `randomx_monero::examine`. If it cannot be read, a check fails, and
/// nothing is thrown.
///
/// # Errors
///
/// If a blob is longer than 1 MiB, the id has another length, or the height or the network is invalid.
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

/// Returns the id of a transaction, or `undefined` if it cannot be parsed, or lacks what pruning leaves
/// out.
///
/// # Errors
///
/// If the transaction is longer than 1 MiB.
#[wasm_bindgen(js_name = transactionId)]
pub fn transaction_id(transaction: &Uint8Array) -> Result<Option<Uint8Array>, InvalidArgument> {
    let bytes = argument::bytes("transaction", transaction)?;
    let parsed = Transaction::parse(&bytes).ok().filter(|parsed| !parsed.is_pruned());
    Ok(parsed.map(|parsed| Uint8Array::from(parsed.hash().as_slice())))
}

/// Returns the hashing blob of a block, or `undefined` if the block cannot be parsed.
///
/// # Errors
///
/// If the block is longer than 1 MiB.
#[wasm_bindgen(js_name = hashingBlob)]
pub fn hashing_blob(block: &Uint8Array) -> Result<Option<Uint8Array>, InvalidArgument> {
    let block = argument::bytes("block", block)?;
    let parsed = Block::parse(&block).ok();
    Ok(parsed.map(|block| Uint8Array::from(block.hashing_blob().as_bytes())))
}
