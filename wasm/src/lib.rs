//! RandomX for JavaScript.
//!
//! A thin layer: each export checks its arguments, calls the crate `randomx` and returns. Long work is
//! split into bounded calls, so that the worker that owns these objects can read its messages in
//! between.
//!
//! Errors are JavaScript `Error`s with a `code`: `invalid-argument`, `out-of-memory` or
//! `worker-failed` (see [`error`]). Objects own wasm memory until their `free()`.

#![deny(unsafe_code)]

#[cfg(target_arch = "wasm32")]
use talc::wasm::{WasmDynamicTalc, new_wasm_dynamic_allocator};

pub mod cache;
pub mod calibrate;
pub mod error;
pub mod features;
pub mod vm;

mod argument;
mod clock;
#[allow(unsafe_code)]
mod host;
mod text;

/// Smaller than the standard library's, for the download. It serves one thread, and an instance has no more.
#[cfg(target_arch = "wasm32")]
#[global_allocator]
static ALLOCATOR: WasmDynamicTalc = new_wasm_dynamic_allocator();
