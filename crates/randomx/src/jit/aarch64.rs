//! Machine code for ARM64 (AArch64 with NEON). Its functions have the C calling convention.

pub mod assembler;
#[cfg(test)]
mod counts;
pub mod program;
pub mod superscalar;

use crate::cpu::Cpu;
use crate::jit::{CodePages, JitError};

use program::Jit;

/// The name of these processors.
pub const NAME: Option<&str> = Some("ARM64");

/// Programs change the rounding mode in one way, whatever the processor.
pub fn rounding_modes() -> Option<&'static str> {
    None
}

/// Returns the compiler of programs.
///
/// # Errors
///
/// None.
pub fn jit(cpu: Cpu, pages: CodePages) -> Result<Jit, JitError> {
    Ok(Jit::new(cpu, pages))
}
