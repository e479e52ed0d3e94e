//! RandomX, the proof of work of Monero and others, in Rust.
//!
//! The crate computes RandomX v1 and v2 hashes. A key is expanded to a [`Cache`] of 256 MiB, with
//! which a [`Vm`] hashes inputs, several at once in lanes. For many hashes of one key, compute a
//! [`Dataset`] of 2080 MiB from the cache first. A [`VmPool`] hashes on many threads. Native builds
//! compile RandomX programs to machine code for x86-64 and ARM64, and elsewhere interpret them.
//! WebAssembly builds emulate directed rounding. All of them compute the same hashes.
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
//! Section numbers refer to RandomX's specification, `doc/specs.md` of tevador/RandomX.
//!
//! # Features
//!
//! `internals` makes the parts of the algorithm public: primitives, program decoding, engines, code
//! generators and traces. They are for studying and testing RandomX, and have no stability promise:
//! any release may change them.

#[cfg(not(feature = "internals"))]
mod aes;
#[cfg(feature = "internals")]
pub mod aes;
#[cfg(not(feature = "internals"))]
mod argon2d;
#[cfg(feature = "internals")]
pub mod argon2d;
#[cfg(not(feature = "internals"))]
mod blake2b;
#[cfg(feature = "internals")]
pub mod blake2b;
#[cfg(not(feature = "internals"))]
mod blake_generator;
#[cfg(feature = "internals")]
pub mod blake_generator;
mod cache;
mod commitment;
#[cfg(not(feature = "internals"))]
mod cpu;
#[cfg(feature = "internals")]
pub mod cpu;
mod dataset;
#[cfg(not(feature = "internals"))]
#[allow(dead_code, unused_imports, reason = "some parts serve `internals` alone")]
mod engine;
#[cfg(feature = "internals")]
pub mod engine;
mod environment;
mod error;
#[cfg(not(feature = "internals"))]
mod f64x2;
#[cfg(feature = "internals")]
pub mod f64x2;
mod implementations;
#[cfg(not(feature = "internals"))]
mod interpreter;
#[cfg(feature = "internals")]
pub mod interpreter;
#[cfg(not(feature = "internals"))]
mod items;
#[cfg(feature = "internals")]
pub mod items;
#[cfg(not(feature = "internals"))]
#[allow(dead_code, unused_imports, reason = "some parts serve `internals` alone")]
mod jit;
#[cfg(feature = "internals")]
pub mod jit;
#[cfg(not(feature = "internals"))]
mod memory;
#[cfg(feature = "internals")]
pub mod memory;
mod multiply;
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", target_os = "linux")))]
mod once;
#[cfg(not(feature = "internals"))]
mod params;
#[cfg(feature = "internals")]
pub mod params;
#[cfg(not(target_family = "wasm"))]
mod pool;
#[cfg(not(feature = "internals"))]
#[allow(dead_code, unused_imports, reason = "some parts serve `internals` alone")]
mod program;
#[cfg(feature = "internals")]
pub mod program;
mod reciprocal;
#[cfg(not(feature = "internals"))]
mod registers;
#[cfg(feature = "internals")]
pub mod registers;
#[cfg(not(feature = "internals"))]
mod rounding;
#[cfg(feature = "internals")]
pub mod rounding;
#[cfg(not(feature = "internals"))]
mod scratchpad;
#[cfg(feature = "internals")]
pub mod scratchpad;
#[cfg(not(target_family = "wasm"))]
pub mod spread;
#[cfg(not(feature = "internals"))]
#[allow(dead_code, unused_imports, reason = "some parts serve `internals` alone")]
mod superscalar;
#[cfg(feature = "internals")]
pub mod superscalar;
#[cfg(feature = "internals")]
pub mod trace;
#[cfg(target_arch = "x86_64")]
mod turns;
mod vm;

pub use cache::{Cache, CacheBuilder, CacheMemory};
pub use commitment::calculate_commitment;
pub use cpu::{Cpu, Extension};
pub use dataset::{Dataset, DatasetBuilder};
pub use engine::{EngineChoice, EngineKind};
pub use error::{CacheError, DatasetError, PoolError, VmError};
pub use implementations::Implementations;
pub use items::{ItemSource, Items, ItemsOptions};
pub use jit::{CodePages, JitError};
pub use memory::Pages;
pub use params::{HASH_SIZE, MAX_LANES, MAX_THREADS, UnknownVersion, Version};
#[cfg(not(target_family = "wasm"))]
pub use pool::VmPool;
#[cfg(feature = "internals")]
pub use reciprocal::reciprocal;
pub use superscalar::Item;
pub use vm::{KeyMemory, Observer, Phase, PhaseTimes, Vm, VmOptions};

/// Compiles the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
