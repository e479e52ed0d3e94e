//! Machine code for x86-64. Its functions have the `sysv64` calling convention on every system.

pub mod assembler;
pub mod program;
pub mod superscalar;

use crate::cpu::Cpu;
use crate::jit::{CodePages, JitError};

use program::Jit;

/// The name of these processors.
pub const NAME: Option<&str> = Some("x86-64");

/// Returns how programs change the rounding mode. The first call measures what is fastest.
pub fn rounding_modes() -> Option<&'static str> {
    Some(program::ModeLoads::fastest().name())
}

/// Returns the compiler of programs.
///
/// # Errors
///
/// None.
pub fn jit(cpu: Cpu, pages: CodePages) -> Result<Jit, JitError> {
    Ok(Jit::new(cpu, pages))
}
