//! Compiled programs against the interpreter, state for state: registers, rounding mode, item numbers
//! and the whole scratchpad after every program, on random programs full of edge cases.

mod lanes;
mod random;
mod wasm;
mod wasm_host;
#[cfg(target_arch = "x86_64")]
mod x86_64;
