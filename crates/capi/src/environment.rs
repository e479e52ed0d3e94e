//! The floating point environment of C callers, who may have changed what Rust code relies on:
//! rounding to nearest, no flushing of denormals, exceptions masked.

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use std::arch::asm;

/// The default environment while it lives, then the caller's again.
pub(crate) struct DefaultEnvironment {
    #[cfg(target_arch = "x86_64")]
    caller: u32,
    #[cfg(target_arch = "aarch64")]
    caller: u64,
}

#[cfg(target_arch = "x86_64")]
impl DefaultEnvironment {
    pub(crate) fn enter() -> DefaultEnvironment {
        const DEFAULT: u32 = 0x1f80;
        let mut caller = 0_u32;
        // SAFETY: the instruction writes 4 bytes, where `caller` is.
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
    // SAFETY: the value is the one that Rust code relies on, or the caller's own, which is put
    // back when no Rust code comes after; no bit of either is reserved.
    unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const mxcsr, options(nostack, preserves_flags)) };
}

#[cfg(target_arch = "aarch64")]
impl DefaultEnvironment {
    pub(crate) fn enter() -> DefaultEnvironment {
        let caller;
        // SAFETY: the register is readable at every level; the value written is its default.
        unsafe { asm!("mrs {}, fpcr", "msr fpcr, xzr", out(reg) caller) };
        DefaultEnvironment { caller }
    }
}

#[cfg(target_arch = "aarch64")]
impl Drop for DefaultEnvironment {
    fn drop(&mut self) {
        // SAFETY: the caller's own value is put back when no Rust code comes after.
        unsafe { asm!("msr fpcr, {}", in(reg) self.caller) };
    }
}

/// In WebAssembly there is no environment; elsewhere callers have to leave it as it is.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
impl DefaultEnvironment {
    pub(crate) fn enter() -> DefaultEnvironment {
        DefaultEnvironment {}
    }
}
