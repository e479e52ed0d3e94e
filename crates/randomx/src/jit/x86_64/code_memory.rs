//! Memory for machine code: the one type that owns executable pages.
//!
//! No page is ever writable and executable at the same address. See [`CodePages`] for the two
//! ways.

use std::fmt;
use std::io;

use memmap2::{Mmap, MmapMut};

use crate::jit::{CodePages, JitError};

/// Executable memory and the code in it.
pub struct CodeMemory {
    pages: Pages,
    capacity: usize,
}

enum Pages {
    /// Two views of one file in memory.
    #[cfg(target_os = "linux")]
    Aliased { writable: MmapMut, executable: Mmap },
    /// One mapping. `None` after the system has refused to change it.
    Flipped(Option<Mmap>),
}

impl CodeMemory {
    /// Maps room for `capacity` bytes of code.
    ///
    /// # Errors
    ///
    /// [`JitError::Memory`] where the system gives no executable memory.
    pub fn new(capacity: usize, pages: CodePages) -> Result<CodeMemory, JitError> {
        #[cfg(target_os = "linux")]
        if pages == CodePages::Aliased
            && let Ok(pages) = aliased(capacity)
        {
            return Ok(CodeMemory { pages, capacity });
        }
        let _ = pages;
        let executable = MmapMut::map_anon(capacity).and_then(MmapMut::make_exec);
        let executable = executable.map_err(memory_error)?;
        Ok(CodeMemory { pages: Pages::Flipped(Some(executable)), capacity })
    }

    /// Replaces the code, and makes it executable on this thread. Another thread that ran the
    /// earlier code may only run this one after it has synchronised with this thread.
    ///
    /// # Errors
    ///
    /// [`JitError::TooLong`] when there is no room for `code`, [`JitError::Memory`] when the
    /// system refuses to make the pages writable or executable; there is no code then.
    #[inline]
    pub fn write(&mut self, code: &[u8]) -> Result<(), JitError> {
        if code.len() > self.capacity {
            return Err(JitError::TooLong);
        }
        match &mut self.pages {
            #[cfg(target_os = "linux")]
            Pages::Aliased { writable, .. } => {
                writable[..code.len()].copy_from_slice(code);
                serialize();
            }
            Pages::Flipped(map) => {
                let executable = map.take().ok_or(JitError::Memory(io::ErrorKind::Other))?;
                let mut writable = executable.make_mut().map_err(memory_error)?;
                writable[..code.len()].copy_from_slice(code);
                *map = Some(writable.make_exec().map_err(memory_error)?);
            }
        }
        Ok(())
    }

    /// The first byte of the code. It is valid until the memory is dropped or written again.
    ///
    /// # Errors
    ///
    /// [`JitError::Memory`] after a failed [`write`](Self::write).
    #[inline]
    pub fn entry(&self) -> Result<*const u8, JitError> {
        match &self.pages {
            #[cfg(target_os = "linux")]
            Pages::Aliased { executable, .. } => Ok(executable.as_ptr()),
            Pages::Flipped(Some(map)) => Ok(map.as_ptr()),
            Pages::Flipped(None) => Err(JitError::Memory(io::ErrorKind::Other)),
        }
    }

    /// How the pages are written, which is not what was asked for where that cannot be had.
    pub fn pages(&self) -> CodePages {
        match self.pages {
            #[cfg(target_os = "linux")]
            Pages::Aliased { .. } => CodePages::Aliased,
            Pages::Flipped(_) => CodePages::Flipped,
        }
    }
}

impl fmt::Debug for CodeMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CodeMemory")
            .field("pages", &self.pages())
            .field("capacity", &self.capacity)
            .finish_non_exhaustive()
    }
}

fn memory_error(error: io::Error) -> JitError {
    JitError::Memory(error.kind())
}

#[cfg(target_os = "linux")]
fn aliased(capacity: usize) -> io::Result<Pages> {
    use memmap2::MmapOptions;
    use rustix::fs::{MemfdFlags, ftruncate, memfd_create};

    let file = memfd_create("randomx-code", MemfdFlags::CLOEXEC)?;
    ftruncate(&file, capacity as u64)?;
    let options = MmapOptions::new().len(capacity).to_owned();
    // SAFETY: the file has no name and its only handle is closed here, so no one else can
    // change or shorten it.
    let (writable, executable) = unsafe { (options.map_mut(&file)?, options.map_exec(&file)?) };
    Ok(Pages::Aliased { writable, executable })
}

/// Makes the processor fetch anew what was written through another address: it may have begun to
/// decode what was there (Intel SDM, volume 3, "Handling Self- and Cross-Modifying Code").
#[cfg(target_os = "linux")]
#[inline]
// CPUID's function became a safe one after the oldest compiler that this crate supports.
#[allow(unused_unsafe)]
fn serialize() {
    use std::arch::asm;
    use std::arch::x86_64::__cpuid;
    use std::sync::LazyLock;
    static HAS_SERIALIZE: LazyLock<bool> = LazyLock::new(|| {
        use std::arch::x86_64::{__cpuid_count, __get_cpuid_max};
        const LEAF: u32 = 7;
        const SERIALIZE: u32 = 1 << 14;
        // SAFETY: every x86-64 processor has CPUID.
        let (edx, leaves) = unsafe { (__cpuid_count(LEAF, 0).edx, __get_cpuid_max(0).0) };
        leaves >= LEAF && edx & SERIALIZE != 0
    });
    if *HAS_SERIALIZE {
        // SAFETY: the processor says that it has the instruction, which changes nothing.
        unsafe { asm!(".byte 0x0f, 0x01, 0xe8", options(nostack, preserves_flags)) };
    } else {
        // SAFETY: every x86-64 processor has CPUID, which serialises.
        std::hint::black_box(unsafe { __cpuid(0) });
    }
}

#[cfg(test)]
mod tests;
