//! Chooses the compiler to machine code for this processor. Nothing else names all of them.

#[cfg(target_arch = "aarch64")]
use super::aarch64 as chosen;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
use super::absent as chosen;
#[cfg(target_arch = "x86_64")]
use super::x86_64 as chosen;

pub use chosen::program::Jit;
pub use chosen::superscalar::SuperscalarCode;

use crate::cpu::Cpu;
use crate::jit::{CodePages, JitError};

/// The name of the processors that machine code is for, if there is a compiler.
pub const NAME: Option<&str> = chosen::NAME;

/// Returns how programs change the rounding mode, where that depends on the processor. The first call measures it.
pub fn rounding_modes() -> Option<&'static str> {
    chosen::rounding_modes()
}

/// Returns the compiler of programs for this processor.
///
/// # Errors
///
/// [`JitError::Unsupported`] if there is none.
pub fn jit(cpu: Cpu, pages: CodePages) -> Result<Jit, JitError> {
    chosen::jit(cpu, pages)
}
