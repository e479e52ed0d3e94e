//! WebAssembly modules, generated at run time for a WebAssembly engine that runs beside this crate.
//!
//! Every target generates the same modules, so that native tests can check and run them. A host
//! outside this crate compiles and calls them.

pub mod argon2d;
pub mod assembler;
pub mod bridge;
pub mod cache_memory;
pub mod engine;
mod high_product;
pub mod host;
#[cfg(test)]
mod listings;
pub mod module;
mod program;
pub mod superscalar;

/// The features that generated modules may use beyond WebAssembly 2.0 (which includes SIMD). Engines
/// differ in these, so the host detects them at run time. Results never depend on them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Features {
    /// `f64x2.relaxed_madd` exists and rounds once.
    pub fused_multiply_add: bool,
    /// `i64.mul_wide_s` and `i64.mul_wide_u` exist.
    pub wide_arithmetic: bool,
    /// The memory of the cache is shared between threads.
    pub shared_memory: bool,
}
