//! The memory that generated modules keep a cache in: one of its own, so that workers can share
//! it and so that its 256 MiB go back with it.
//!
//! The cache is at address 0. One page more holds the *slots*: what a worker computes items in.

use super::Features;
use super::module::{Memory, Module};
use crate::params::CACHE_SIZE;

/// The module and the name that the memory is imported by.
pub const NAME: (&str, &str) = ("randomx", "cache");

/// The size of the memory in pages of 64 KiB, from the beginning and for good.
pub const PAGES: u32 = (CACHE_SIZE + SLOTS * SLOT_SIZE) as u32 / (64 << 10);

/// How many slots there are, and so how many workers at most.
pub const SLOTS: usize = 32;

/// The size of a slot: the registers of 24 items and some room.
pub const SLOT_SIZE: usize = 2 << 10;

/// The address of a slot.
///
/// # Panics
///
/// From [`SLOTS`] on.
pub const fn slot(index: usize) -> u32 {
    assert!(index < SLOTS);
    (CACHE_SIZE + index * SLOT_SIZE) as u32
}

/// Imports the memory.
pub(super) fn import(module: &mut Module, features: Features) {
    let shared = features.shared_memory;
    module.import_memory(NAME.0, NAME.1, Memory { minimum: PAGES, maximum: Some(PAGES), shared });
}
