//! RandomX, the proof of work of Monero and others, in Rust.
//!
//! The crate computes RandomX v1 and v2 hashes. A key is expanded into a [`Cache`] of 256 MiB, and
//! a [`Vm`] hashes inputs with it, several at once in lanes. Whoever has many to hash makes a
//! [`Dataset`] of 2080 MiB out of the cache first, and a [`VmPool`] for many threads. It is one crate
//! for native programs, which run as x86-64 machine code where they can, and for WebAssembly, where
//! there is not even directed rounding; the results are the same bit for bit.
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use std::sync::Arc;
//! use randomx::{Cache, Version, Vm, calculate_commitment};
//!
//! let cache = Arc::new(Cache::new(b"a key, such as a seed hash")?);
//! let mut vm = Vm::new(cache, Version::V2)?;
//! let hash = vm.hash(b"a hashing blob");
//! let commitment = calculate_commitment(b"a hashing blob", &hash);
//! # Ok(())
//! # }
//! ```
//!
//! Section numbers in this documentation refer to RandomX's specification, `doc/specs.md` of
//! tevador/RandomX. The modules below [`Vm`] are public for those who study the algorithm.

pub mod aes;
pub mod argon2d;
pub mod blake2b;
pub mod blake_generator;
mod cache;
mod commitment;
pub mod cpu;
mod dataset;
pub mod engine;
mod environment;
mod error;
pub mod f64x2;
pub mod interpreter;
pub mod items;
pub mod jit;
pub mod memory;
mod multiply;
pub mod params;
#[cfg(not(target_family = "wasm"))]
mod pool;
pub mod program;
mod reciprocal;
pub mod registers;
pub mod rounding;
pub mod scratchpad;
pub mod superscalar;
pub mod trace;
mod vm;

pub use cache::{Cache, CacheBuilder, CacheMemory};
pub use commitment::calculate_commitment;
pub use dataset::{Dataset, DatasetBuilder};
pub use engine::{EngineChoice, EngineKind};
pub use error::{CacheError, DatasetError, PoolError, VmError};
pub use jit::{CodePages, JitError};
pub use memory::Pages;
pub use params::{HASH_SIZE, MAX_LANES, MAX_THREADS, UnknownVersion, Version};
#[cfg(not(target_family = "wasm"))]
pub use pool::VmPool;
pub use reciprocal::reciprocal;
pub use superscalar::Item;
pub use vm::{KeyMemory, Observer, Phase, Vm, VmOptions};
