//! Machine code for x86-64. Its functions have the `sysv64` calling convention on every system.

pub mod assembler;
pub mod code_memory;
pub mod program;
pub mod superscalar;
