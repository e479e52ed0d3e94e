//! Checks of one block by itself.

use js_sys::Uint8Array;
use randomx_monero::{Block, Candidate};
use wasm_bindgen::prelude::wasm_bindgen;

use crate::argument::{self, InvalidArgument};
use crate::object::{self, PlainExamination};

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
