//! The cache of one key (specification, section 7): 256 MiB, filled step by step.

use crate::{argument, error::Failure};
use js_sys::{Uint8Array, Uint32Array};
use randomx::cpu::Cpu;
use randomx::items::Items;
use std::sync::Arc;
use wasm_bindgen::prelude::wasm_bindgen;

/// A cache that is being filled. `free()` gives its memory back at any time.
#[wasm_bindgen]
pub struct CacheBuilder(randomx::CacheBuilder);

#[wasm_bindgen]
impl CacheBuilder {
    /// Takes 256 MiB for the cache of `key` (at most 1 MiB; may be empty).
    ///
    /// # Errors
    ///
    /// `invalid-argument` for a longer key; `out-of-memory`.
    #[wasm_bindgen(constructor)]
    pub fn new(key: &Uint8Array) -> Result<CacheBuilder, Failure> {
        argument::with_key(key, |key| Ok(Self(randomx::CacheBuilder::new(key, Cpu::detect())?)))
    }

    /// Fills at most `blocks` more blocks of 1 KiB and returns the part done, 0 to 1. A fill
    /// is 786,432 blocks: three passes over the memory.
    pub fn fill(&mut self, blocks: u32) -> f64 {
        self.0.fill(blocks as usize);
        self.0.filled() as f64 / randomx::CacheBuilder::BLOCKS as f64
    }

    /// The cache, after filling what is left of it. This builder is used up.
    pub fn finish(self) -> Cache {
        Cache(Arc::new(self.0.finish()))
    }
}

/// A full cache. Its memory is given back when it and every `Vm` made from
/// it are freed.
#[wasm_bindgen]
pub struct Cache(pub(crate) Arc<randomx::Cache>);

#[wasm_bindgen]
impl Cache {
    /// The dataset items (specification, section 7.3) of n `numbers`, in order, as one array of
    /// 64 n bytes. At most 65,536 at once; a number is from 0 to 34,078,718.
    ///
    /// # Errors
    ///
    /// `invalid-argument` for more numbers or another number.
    pub fn items(&self, numbers: &Uint32Array) -> Result<Vec<u8>, Failure> {
        let numbers = argument::item_numbers("numbers", numbers)?;
        let mut items = vec![[0; 8]; numbers.len()];
        Items::new(Arc::clone(&self.0), Cpu::detect()).compute(&numbers, &mut items);
        Ok(items.as_flattened().iter().flat_map(|word| word.to_le_bytes()).collect())
    }
}
