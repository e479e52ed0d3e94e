//! The floating point environment that programs run in.
//!
//! The interpreter's arithmetic, like all Rust code, relies on rounding to nearest, on denormal
//! numbers being kept, and on masked exceptions. A thread can have another environment: C code in
//! the same process may have set it.

#![allow(unsafe_code, reason = "reads and writes control registers")]

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use std::arch::asm;

/// Sets the default environment until it is dropped, then restores the caller's.
pub(crate) struct DefaultEnvironment {
    #[cfg(target_arch = "x86_64")]
    caller: u32,
    /// FPCR, the modes, and FPSR, the flags of exceptions that have happened. MXCSR has both.
    #[cfg(target_arch = "aarch64")]
    caller: (u64, u64),
}

#[cfg(target_arch = "x86_64")]
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

#[cfg(target_arch = "x86_64")]
impl Drop for DefaultEnvironment {
    fn drop(&mut self) {
        load(self.caller);
    }
}

#[cfg(target_arch = "x86_64")]
fn load(mxcsr: u32) {
    // SAFETY: the value is the default that Rust code relies on, or the caller's own, which
    // `stmxcsr` stored: neither has a reserved bit set, which would fault.
    unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const mxcsr, options(nostack, preserves_flags)) };
}

#[cfg(target_arch = "aarch64")]
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

#[cfg(target_arch = "aarch64")]
impl Drop for DefaultEnvironment {
    fn drop(&mut self) {
        let (modes, flags) = self.caller;
        // SAFETY: the values are the caller's own.
        unsafe { asm!("msr fpcr, {}", "msr fpsr, {}", in(reg) modes, in(reg) flags) };
    }
}

/// WebAssembly has no such environment; on other processors the caller must leave the default, as the
/// documentation of `Vm` says.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
impl DefaultEnvironment {
    pub(crate) fn enter() -> DefaultEnvironment {
        DefaultEnvironment {}
    }
}
