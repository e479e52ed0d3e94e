//! FPCR, the modes, and FPSR, the flags of exceptions that have happened.

#![allow(unsafe_code, reason = "reads and writes control registers")]

use std::arch::asm;

/// Sets the default environment until it is dropped, then restores the caller's.
pub(crate) struct DefaultEnvironment {
    caller: (u64, u64),
}

impl DefaultEnvironment {
    pub(crate) fn enter() -> DefaultEnvironment {
        let (modes, flags);
        // SAFETY: every privilege level may read and write both registers, and 0 is FPCR's default.
        unsafe {
            asm!("mrs {}, fpcr", "mrs {}, fpsr", "msr fpcr, xzr", out(reg) modes, out(reg) flags);
        }
        DefaultEnvironment { caller: (modes, flags) }
    }
}

impl Drop for DefaultEnvironment {
    fn drop(&mut self) {
        let (modes, flags) = self.caller;
        // SAFETY: the values are the caller's own.
        unsafe { asm!("msr fpcr, {}", "msr fpsr, {}", in(reg) modes, in(reg) flags) };
    }
}
