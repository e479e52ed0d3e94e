//! Compiled programs against the interpreter, on random programs full of edge cases. Registers,
//! rounding mode and item numbers are compared after every program, scratchpads periodically.
//! Other tests run machine code in forked processes.

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod fork;
mod lanes;
mod random;
mod wasm;
mod wasm_host;
#[cfg(target_arch = "x86_64")]
mod x86_64;
