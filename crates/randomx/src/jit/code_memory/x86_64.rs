//! Makes an x86-64 processor run code that was just written.

#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "executes instructions that serialise")]
mod serializing;

#[cfg(target_os = "linux")]
use serializing::Serializing;

/// How this processor fetches code again.
#[cfg(target_os = "linux")]
pub(super) struct InstructionFetch {
    serializing: Serializing,
}

#[cfg(target_os = "linux")]
impl InstructionFetch {
    pub(super) fn new() -> InstructionFetch {
        InstructionFetch { serializing: Serializing::fastest() }
    }

    /// Returns the way that works in every emulator, without measuring others.
    pub(super) fn safest() -> InstructionFetch {
        InstructionFetch { serializing: Serializing::Cpuid }
    }

    /// Makes the processor fetch code again that was written through another address: it may have
    /// begun to decode the old code (Intel SDM, volume 3, "Handling Self- and Cross-Modifying
    /// Code").
    #[inline]
    pub(super) fn renew_alias(&self, _written: &[u8], _executable: *const u8) {
        self.serializing.execute();
    }
}

/// Does nothing: the system call that made the pages executable has serialised.
#[inline]
pub(super) fn renew(_code: &[u8]) {}

/// Code of a function without arguments that executes an assignment `turns` times and returns `value`.
#[cfg(target_os = "linux")]
pub(super) fn repeating(turns: u16, value: u16) -> [u8; 15] {
    let ([turns_low, turns_high], [low, high]) = (turns.to_le_bytes(), value.to_le_bytes());
    [
        0xb9, turns_low, turns_high, 0, 0, // mov ecx, turns
        0xb8, low, high, 0, 0, // mov eax, value
        0xff, 0xc9, // dec ecx
        0x75, 0xf7, // jnz to the second instruction
        0xc3, // ret
    ]
}
