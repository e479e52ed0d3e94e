//! Makes an ARM64 processor run code that was just written: its caches of instructions and of data
//! do not follow each other.

#[cfg(not(target_vendor = "apple"))]
use std::arch::asm;

/// The sizes of the caches' lines.
#[cfg(not(target_vendor = "apple"))]
pub(super) struct InstructionFetch {
    data_line: usize,
    instruction_line: usize,
}

#[cfg(not(target_vendor = "apple"))]
impl InstructionFetch {
    pub(super) fn new() -> InstructionFetch {
        let types: u64;
        // SAFETY: every system lets programs read this register, or emulates it.
        unsafe {
            asm!("mrs {}, ctr_el0", out(reg) types, options(nomem, nostack, preserves_flags))
        };
        // The fields are binary logarithms of numbers of words.
        let line = |position: u32| 4 << (types >> position & 15);
        InstructionFetch { data_line: line(16), instruction_line: line(0) }
    }

    /// Makes the processor fetch code again that was written at `written` and runs at `executable`
    /// (Arm ARM, B2.4.4, "Concurrent modification and execution of instructions").
    #[inline]
    pub(super) fn renew_alias(&self, written: &[u8], executable: *const u8) {
        for address in lines(written.as_ptr(), written.len(), self.data_line) {
            // SAFETY: writes a line of mapped memory back, which changes no value.
            unsafe { asm!("dc cvau, {}", in(reg) address, options(nostack, preserves_flags)) };
        }
        // SAFETY: a barrier changes no value.
        unsafe { asm!("dsb ish", options(nostack, preserves_flags)) };
        for address in lines(executable, written.len(), self.instruction_line) {
            // SAFETY: forgets instructions, which are fetched again from the same mapped memory.
            unsafe { asm!("ic ivau, {}", in(reg) address, options(nostack, preserves_flags)) };
        }
        // SAFETY: barriers change no value.
        unsafe { asm!("dsb ish", "isb", options(nostack, preserves_flags)) };
    }

    /// Returns whether code that was replaced through another address runs: emulators that keep
    /// translations of code, such as QEMU before 8.2, do not notice. `write` puts code into the pages
    /// that `executable` is the start of.
    #[cfg(target_os = "linux")]
    pub(super) fn follows_aliases(executable: *const u8, mut write: impl FnMut(&[u8])) -> bool {
        use std::sync::atomic::{AtomicU8, Ordering};
        const UNKNOWN: u8 = 0;
        const FOLLOWS: u8 = 1;
        const DOES_NOT: u8 = 2;
        static KNOWN: AtomicU8 = AtomicU8::new(UNKNOWN);
        if KNOWN.load(Ordering::Relaxed) == UNKNOWN {
            // SAFETY: the pages hold the function that `returning` made, of this type.
            let function: extern "C" fn() -> u64 = unsafe { std::mem::transmute(executable) };
            let follows = [1, 2].into_iter().all(|value| {
                write(&returning(value));
                function() == u64::from(value)
            });
            KNOWN.store(if follows { FOLLOWS } else { DOES_NOT }, Ordering::Relaxed);
        }
        KNOWN.load(Ordering::Relaxed) == FOLLOWS
    }
}

/// Makes the processor fetch code again that was written at its own address.
#[cfg(not(target_vendor = "apple"))]
#[inline]
pub(super) fn renew(code: &[u8]) {
    InstructionFetch::new().renew_alias(code, code.as_ptr());
}

/// Makes the processor fetch code again that was written at its own address.
#[cfg(target_vendor = "apple")]
pub(super) fn renew(code: &[u8]) {
    unsafe extern "C" {
        fn sys_icache_invalidate(start: *const std::ffi::c_void, bytes: usize);
    }
    // SAFETY: the range is mapped.
    unsafe { sys_icache_invalidate(code.as_ptr().cast(), code.len()) };
}

/// Code of a function without arguments that returns `value`: `mov x0, #value`, `ret`.
#[cfg(any(test, target_os = "linux"))]
pub(super) fn returning(value: u16) -> [u8; 8] {
    let [mov, ret] = [0xd280_0000 | u32::from(value) << 5, 0xd65f_03c0].map(u32::to_le_bytes);
    let mut code = [0; 8];
    code[..4].copy_from_slice(&mov);
    code[4..].copy_from_slice(&ret);
    code
}

/// Returns the addresses of all lines of `size` bytes that a range touches.
#[cfg(not(target_vendor = "apple"))]
fn lines(start: *const u8, bytes: usize, size: usize) -> impl Iterator<Item = usize> {
    let start = start.addr();
    (start & !(size - 1)..start + bytes).step_by(size)
}
