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

    /// Returns the way that works in every emulator: there is one way.
    #[cfg(target_os = "linux")]
    pub(super) fn safest() -> InstructionFetch {
        InstructionFetch::new()
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
#[cfg(test)]
pub(super) fn returning(value: u16) -> [u8; 8] {
    let [mov, ret] = [0xd280_0000 | u32::from(value) << 5, 0xd65f_03c0].map(u32::to_le_bytes);
    let mut code = [0; 8];
    code[..4].copy_from_slice(&mov);
    code[4..].copy_from_slice(&ret);
    code
}

/// Code of a function without arguments that executes an assignment `turns` times and returns `value`.
#[cfg(target_os = "linux")]
pub(super) fn repeating(turns: u16, value: u16) -> [u8; 20] {
    let instructions = [
        0xd280_0001 | u32::from(turns) << 5, // mov x1, #turns
        0xd280_0000 | u32::from(value) << 5, // mov x0, #value
        0xf100_0421,                         // subs x1, x1, #1
        0x54ff_ffc1,                         // b.ne to the second instruction
        0xd65f_03c0,                         // ret
    ];
    let mut code = [0; 20];
    for (bytes, instruction) in code.chunks_exact_mut(4).zip(instructions) {
        bytes.copy_from_slice(&u32::to_le_bytes(instruction));
    }
    code
}

/// Returns the addresses of all lines of `size` bytes that a range touches.
#[cfg(not(target_vendor = "apple"))]
fn lines(start: *const u8, bytes: usize, size: usize) -> impl Iterator<Item = usize> {
    let start = start.addr();
    (start & !(size - 1)..start + bytes).step_by(size)
}
