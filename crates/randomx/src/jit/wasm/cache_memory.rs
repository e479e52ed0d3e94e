//! The WebAssembly memory of a cache.
//!
//! It is separate from a worker's own memory, so that workers can share it and so that its 256 MiB
//! are freed with it. The cache is at address 0. One more page holds the *slots*, one for each
//! worker, for the items that it is computing.

use super::Features;
use super::module::{Memory, Module};
use crate::params::CACHE_SIZE;

/// The module name and the field name that the memory is imported by.
pub const NAME: (&str, &str) = ("randomx", "cache");

/// The size of the memory in pages of 64 KiB. The memory never grows.
pub const PAGES: u32 = (CACHE_SIZE + SLOTS * SLOT_SIZE) as u32 / (64 << 10);

/// The number of slots, and so the most workers that share a cache.
pub const SLOTS: usize = 32;

/// The size of a slot in bytes: the registers of 24 items, and 512 bytes more.
pub const SLOT_SIZE: usize = 2 << 10;

/// Returns the address of a slot.
///
/// # Panics
///
/// If `index` is [`SLOTS`] or more.
pub const fn slot(index: usize) -> u32 {
    assert!(index < SLOTS);
    (CACHE_SIZE + index * SLOT_SIZE) as u32
}

/// Imports the memory into `module`.
pub(super) fn import(module: &mut Module, features: Features) {
    let shared = features.shared_memory;
    module.import_memory(NAME.0, NAME.1, Memory { minimum: PAGES, maximum: Some(PAGES), shared });
}
