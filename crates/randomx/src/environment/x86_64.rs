//! MXCSR, which has the modes and the flags of exceptions that have happened.

#![allow(unsafe_code, reason = "reads and writes control registers")]

use std::arch::asm;

/// Sets the default environment until it is dropped, then restores the caller's.
pub(crate) struct DefaultEnvironment {
    caller: u32,
}

impl DefaultEnvironment {
    pub(crate) fn enter() -> DefaultEnvironment {
        const DEFAULT: u32 = 0x1f80;
        let mut caller = 0_u32;
        // SAFETY: the instruction writes the 4 bytes of `caller`.
        unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut caller, options(nostack, preserves_flags)) };
        load(DEFAULT);
        DefaultEnvironment { caller }
    }
}

impl Drop for DefaultEnvironment {
    fn drop(&mut self) {
        load(self.caller);
    }
}

fn load(mxcsr: u32) {
    // SAFETY: the value is the default that Rust code relies on, or the caller's own, which
    // `stmxcsr` stored: neither has a reserved bit set, which would fault.
    // The flags that `preserves_flags` stands for include those of exceptions, which the value has.
    unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const mxcsr, options(nostack)) };
}
