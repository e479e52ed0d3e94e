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

    /// Makes the processor fetch code again that was written through another address: it may have
    /// begun to decode the old code (Intel SDM, volume 3, "Handling Self- and Cross-Modifying
    /// Code").
    #[inline]
    pub(super) fn renew_alias(&self, _written: &[u8], _executable: *const u8) {
        self.serializing.execute();
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
