//! Compiled programs against the interpreter, on random programs full of edge cases. Registers,
//! rounding mode and item numbers are compared after every program, scratchpads periodically.
//! Other tests run machine code in forked processes, and in place of other code.

#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), target_os = "linux"))]
mod fork;
mod lanes;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod native;
mod random;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod replaced;
mod wasm;
