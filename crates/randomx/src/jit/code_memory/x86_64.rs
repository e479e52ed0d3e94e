//! Makes an x86-64 processor run code that was just written.

/// How this processor fetches code again.
#[cfg(target_os = "linux")]
pub(super) struct InstructionFetch {
    has_serialize: bool,
}

#[cfg(target_os = "linux")]
impl InstructionFetch {
    #[allow(unused_unsafe)]
    pub(super) fn new() -> InstructionFetch {
        use std::arch::x86_64::{__cpuid_count, __get_cpuid_max};
        const LEAF: u32 = 7;
        const SERIALIZE: u32 = 1 << 14;
        // SAFETY: every x86-64 processor has CPUID.
        let (edx, leaves) = unsafe { (__cpuid_count(LEAF, 0).edx, __get_cpuid_max(0).0) };
        InstructionFetch { has_serialize: leaves >= LEAF && edx & SERIALIZE != 0 }
    }

    /// Makes the processor fetch code again that was written through another address: it may have
    /// begun to decode the old code (Intel SDM, volume 3, "Handling Self- and Cross-Modifying
    /// Code").
    #[inline]
    // CPUID's function became a safe one after the oldest compiler that this crate supports.
    #[allow(unused_unsafe)]
    pub(super) fn renew_alias(&self, _written: &[u8], _executable: *const u8) {
        use std::arch::asm;
        use std::arch::x86_64::__cpuid;
        if self.has_serialize {
            // SAFETY: the processor has SERIALIZE, which changes no register and no memory.
            unsafe { asm!(".byte 0x0f, 0x01, 0xe8", options(nostack, preserves_flags)) };
        } else {
            // SAFETY: every x86-64 processor has CPUID, which serialises.
            std::hint::black_box(unsafe { __cpuid(0) });
        }
    }

    /// Returns whether code that was replaced through another address runs: all processors and
    /// emulators of x86-64 follow it.
    pub(super) fn follows_aliases(_executable: *const u8, _write: impl FnMut(&[u8])) -> bool {
        true
    }
}

/// Does nothing: the system call that made the pages executable has serialised.
#[inline]
pub(super) fn renew(_code: &[u8]) {}
