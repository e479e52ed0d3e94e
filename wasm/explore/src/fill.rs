//! Filling the cache in steps.

use js_sys::Uint8Array;
use randomx::CacheBuilder;
use randomx::cpu::Cpu;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::argument;
use crate::explorer::Explorer;
use crate::failure::Failure;

/// A cache that is being filled.
#[wasm_bindgen]
pub struct CacheFill(CacheBuilder);

#[wasm_bindgen]
impl CacheFill {
    /// Starts the cache of `key` (at most 1 MiB; may be empty).
    ///
    /// # Errors
    ///
    /// `invalid-argument` for a longer key; `out-of-memory`.
    #[wasm_bindgen(constructor)]
    pub fn new(key: &Uint8Array) -> Result<CacheFill, Failure> {
        let key = argument::bytes("key", key)?;
        Ok(CacheFill(CacheBuilder::new(&key, Cpu::detect())?))
    }

    /// Fills at most `blocks` more blocks of 1 KiB and returns the share done, 0 to 1. A complete fill is
    /// 786,432 blocks.
    pub fn fill(&mut self, blocks: u32) -> f64 {
        self.0.fill(blocks as usize);
        self.0.filled() as f64 / CacheBuilder::BLOCKS as f64
    }

    /// Fills the rest and returns the explorer of this key.
    ///
    /// # Errors
    ///
    /// `out-of-memory`.
    pub fn finish(self) -> Result<Explorer, Failure> {
        Explorer::new(self.0.finish())
    }
}
