//! librandomx: the C API of the reference implementation, over the crate `randomx`.
//!
//! `include/randomx.h` documents every function. Only `exports` and `boundary` handle pointers of C
//! callers; the types behind them are safe code that several threads may call at once.

mod boundary;
mod cache;
mod dataset;
mod exports;
mod flags;
mod vm;
