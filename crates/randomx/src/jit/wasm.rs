//! Modules of WebAssembly, generated where a WebAssembly engine is at hand to run them.
//!
//! Writing them is the same on every target, so that native tests can check and run them. A host
//! outside of this crate compiles and calls them.

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

/// What generated modules may use beyond WebAssembly 2.0, SIMD included. Engines differ in it, so it
/// is found out at run time; results never depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Features {
    /// `f64x2.relaxed_madd` exists and rounds once.
    pub fused_multiply_add: bool,
    /// `i64.mul_wide_s` and `i64.mul_wide_u` exist.
    pub wide_arithmetic: bool,
    /// The memory of the cache is shared between threads.
    pub shared_memory: bool,
}
