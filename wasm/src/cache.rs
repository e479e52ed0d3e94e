//! The cache of one key (specification, section 7): 256 MiB in a memory of its own. Generated modules
//! fill it step by step and compute dataset items from it.

use crate::host::{self, CacheItems};
use crate::{argument, error::Failure, features, text::digits};
use js_sys::WebAssembly::{Memory, Module};
use js_sys::{Function, Object, Reflect, Uint8Array, Uint32Array};
use randomx::argon2d::{FILL_BLOCKS, first_blocks};
use randomx::cpu::Cpu;
use randomx::items::ItemSource;
use randomx::jit::wasm::cache_memory::{self, SLOTS};
use randomx::jit::wasm::{argon2d, superscalar};
use randomx::superscalar::programs;
use std::sync::Arc;
use wasm_bindgen::{JsValue, prelude::wasm_bindgen};

/// Blocks that one call fills. Engines optimise the code while it runs, and use the result from the
/// next call on.
const CALL: u32 = 512;

/// Allocates a memory for the cache of one key after another. Threads can share it if `shared`.
///
/// # Errors
///
/// `out-of-memory`.
#[wasm_bindgen(js_name = cacheMemory)]
pub fn cache_memory(shared: bool) -> Result<Memory, Failure> {
    let descriptor = Object::new();
    for (name, value) in [
        ("initial", cache_memory::PAGES.into()),
        ("maximum", cache_memory::PAGES.into()),
        ("shared", JsValue::from(shared)),
    ] {
        // A fresh object takes any property.
        let _ = Reflect::set(&descriptor, &name.into(), &value);
    }
    Memory::new(&descriptor).map_err(|_| {
        Failure::OutOfMemory("no memory for the RandomX cache: 256 MiB needed".to_owned())
    })
}

/// A cache that is being filled.
#[wasm_bindgen]
pub struct CacheBuilder {
    fill: Function,
    done: u32,
    items: Vec<u8>,
}

#[wasm_bindgen]
impl CacheBuilder {
    /// Begins the cache of `key` (at most 1 MiB; may be empty) in an unused memory of `cacheMemory`.
    /// `features` are bits; see `detectFeatures`.
    ///
    /// # Errors
    ///
    /// `invalid-argument` for a longer key; `out-of-memory`; `worker-failed`.
    #[wasm_bindgen(constructor)]
    pub fn new(key: &Uint8Array, memory: &Memory, features: u32) -> Result<CacheBuilder, Failure> {
        let features = features::from_bits(features);
        let key = argument::bytes("key", key)?;
        let cpu = Cpu::detect();
        let blocks = first_blocks(&key, cpu);
        let bytes = Uint8Array::new(&memory.buffer());
        bytes.subarray(0, size_of_val(&blocks) as u32).copy_from(blocks.as_flattened());

        let fill = host::with_cache(&host::compile(&argon2d::module(features))?, memory)?;
        Ok(Self {
            fill: host::function(&fill, "fill")?,
            done: blocks.len() as u32,
            items: superscalar::module(&programs(&key, cpu), features),
        })
    }

    /// Fills at most `blocks` more blocks of 1 KiB and returns the part that is done, 0 to 1. A fill has
    /// 786,432 blocks: three passes over the memory.
    ///
    /// # Errors
    ///
    /// `out-of-memory`; `worker-failed`.
    pub fn fill(&mut self, blocks: u32) -> Result<f64, Failure> {
        let end = FILL_BLOCKS as u32 - (FILL_BLOCKS as u32 - self.done).saturating_sub(blocks);
        while self.done < end {
            let count = CALL.min(end - self.done);
            self.fill
                .call2(&JsValue::UNDEFINED, &self.done.into(), &count.into())
                .map_err(|error| Failure::refused(&error))?;
            self.done += count;
        }
        Ok(f64::from(self.done) / FILL_BLOCKS as f64)
    }

    /// Compiles the module that computes items from the cache, for `Cache`.
    ///
    /// # Errors
    ///
    /// `out-of-memory`; `worker-failed`.
    pub fn items(&self) -> Result<Module, Failure> {
        host::compile(&self.items)
    }
}

/// A filled cache, as one worker uses it.
#[wasm_bindgen]
pub struct Cache(pub(crate) Arc<CacheItems>);

#[wasm_bindgen]
impl Cache {
    /// Creates a cache from a memory and the module for its key. No other worker may use the same
    /// slot, 0 to 31, in this memory.
    ///
    /// # Errors
    ///
    /// `invalid-argument` for another slot; `out-of-memory`; `worker-failed`.
    #[wasm_bindgen(constructor)]
    pub fn new(memory: &Memory, items: &Module, slot: u32) -> Result<Cache, Failure> {
        let slot = slot as usize;
        if slot >= SLOTS {
            return Err(Failure::unexpected("slot", "0 to 31", &digits(slot as f64)));
        }
        Ok(Self(Arc::new(CacheItems::new(items, memory, slot)?)))
    }

    /// Returns the dataset items (specification, section 7.3) of n `numbers`, in order, as one array
    /// of 64 n bytes. At most 65,536 at once, each number from 0 to 34,078,718.
    ///
    /// # Errors
    ///
    /// `invalid-argument` for more numbers or another number.
    pub fn items(&self, numbers: &Uint32Array) -> Result<Vec<u8>, Failure> {
        let numbers = argument::item_numbers("numbers", numbers)?;
        let mut items = vec![[0; 8]; numbers.len()];
        self.0.compute(&numbers, &mut items);
        Ok(items.as_flattened().iter().flat_map(|word| word.to_le_bytes()).collect())
    }
}
