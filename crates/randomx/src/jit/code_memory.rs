//! Executable memory: the types here own all pages that machine code runs in.
//!
//! Each value holds whole code from its construction to its drop. Replacing code consumes the old
//! value, so that a refusal by the system leaves no value without code.

#[cfg(all(target_arch = "aarch64", any(test, not(windows))))]
#[expect(unsafe_code, reason = "executes instructions that maintain caches")]
mod aarch64;
#[cfg(target_os = "linux")]
mod address_space;
#[cfg(target_os = "linux")]
mod aliased;
#[cfg(all(target_vendor = "apple", target_arch = "aarch64"))]
mod apple;
#[cfg(not(any(windows, all(target_vendor = "apple", target_arch = "aarch64"))))]
mod private;
#[cfg(target_os = "linux")]
mod sealed;
#[cfg(windows)]
mod windows;
#[cfg(all(target_arch = "x86_64", not(windows)))]
mod x86_64;

use std::fmt;
use std::io;

use crate::jit::{CodePages, JitError};

#[cfg(all(target_arch = "aarch64", not(windows)))]
use aarch64 as processor;
#[cfg(target_os = "linux")]
use aliased::AliasedCode;
#[cfg(all(target_vendor = "apple", target_arch = "aarch64"))]
use apple::PrivateCode;
#[cfg(not(any(windows, all(target_vendor = "apple", target_arch = "aarch64"))))]
use private::PrivateCode;
#[cfg(target_os = "linux")]
use sealed::SealedCode;
#[cfg(windows)]
use windows::PrivateCode;
#[cfg(all(target_arch = "x86_64", not(windows)))]
use x86_64 as processor;

/// Machine code that is often replaced.
pub struct CodeMemory {
    pages: Pages,
    capacity: usize,
    requested: CodePages,
}

enum Pages {
    #[cfg(target_os = "linux")]
    Aliased(AliasedCode),
    Private(PrivateCode),
}

impl CodeMemory {
    /// Maps `capacity` bytes and puts `code` there.
    ///
    /// # Errors
    ///
    /// [`JitError::TooLong`] if `code` is longer than `capacity`, [`JitError::Memory`] if the system
    /// refuses executable memory.
    pub fn new(code: &[u8], capacity: usize, pages: CodePages) -> Result<CodeMemory, JitError> {
        if code.len() > capacity {
            return Err(JitError::TooLong);
        }
        #[cfg(target_os = "linux")]
        if pages == CodePages::Aliased
            && let Ok(aliased) = AliasedCode::new(code, capacity)
        {
            return Ok(CodeMemory { pages: Pages::Aliased(aliased), capacity, requested: pages });
        }
        let private = PrivateCode::new(code, capacity).map_err(memory_error)?;
        Ok(CodeMemory { pages: Pages::Private(private), capacity, requested: pages })
    }

    /// Replaces the code, in the same pages if this process has them.
    ///
    /// Another thread that ran the earlier code may run this code only after it has synchronised
    /// with this thread.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new). The pages are unmapped then.
    #[inline]
    pub fn replace(self, code: &[u8]) -> Result<CodeMemory, JitError> {
        let CodeMemory { pages, capacity, requested } = self;
        if code.len() > capacity {
            return Err(JitError::TooLong);
        }
        let pages = match pages {
            #[cfg(target_os = "linux")]
            Pages::Aliased(mut aliased) => {
                if !aliased.write(code) {
                    return CodeMemory::new(code, capacity, requested);
                }
                Pages::Aliased(aliased)
            }
            Pages::Private(private) => Pages::Private(private.replace(code).map_err(memory_error)?),
        };
        Ok(CodeMemory { pages, capacity, requested })
    }

    /// Returns the address of the code, valid until `self` is dropped or its code replaced.
    ///
    /// Returns `None` in a child process, forked since the code was written, that has no such
    /// pages.
    #[inline]
    pub fn entry(&self) -> Option<*const u8> {
        match &self.pages {
            #[cfg(target_os = "linux")]
            Pages::Aliased(aliased) => aliased.entry(),
            Pages::Private(private) => Some(private.entry()),
        }
    }

    /// Returns how the pages are written: as requested, or [`CodePages::Flipped`] where the system
    /// allows nothing else.
    pub fn pages(&self) -> CodePages {
        match self.pages {
            #[cfg(target_os = "linux")]
            Pages::Aliased(_) => CodePages::Aliased,
            Pages::Private(_) => CodePages::Flipped,
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

/// Machine code that is written once. It runs in this process and in its forks.
pub struct FixedCode {
    pages: FixedPages,
}

enum FixedPages {
    Private(PrivateCode),
    #[cfg(target_os = "linux")]
    Sealed(SealedCode),
}

impl FixedCode {
    /// Maps `code` into executable memory.
    ///
    /// # Errors
    ///
    /// [`JitError::Memory`] if the system refuses executable memory.
    pub fn new(code: &[u8], pages: CodePages) -> Result<FixedCode, JitError> {
        // This code is written before threads begin to hash. Otherwise each of them would test the processor.
        #[cfg(target_os = "linux")]
        if pages == CodePages::Aliased {
            aliased::test_processor();
        }
        let private = PrivateCode::new(code, code.len());
        // A system that never makes a writable page executable may still map a file.
        #[cfg(target_os = "linux")]
        if private.is_err()
            && pages == CodePages::Aliased
            && let Ok(sealed) = SealedCode::new(code)
        {
            return Ok(FixedCode { pages: FixedPages::Sealed(sealed) });
        }
        let _ = pages;
        Ok(FixedCode { pages: FixedPages::Private(private.map_err(memory_error)?) })
    }

    /// Returns the address of the code, valid until `self` is dropped.
    #[inline]
    pub fn entry(&self) -> *const u8 {
        match &self.pages {
            FixedPages::Private(private) => private.entry(),
            #[cfg(target_os = "linux")]
            FixedPages::Sealed(sealed) => sealed.entry(),
        }
    }
}

impl fmt::Debug for FixedCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FixedCode").finish_non_exhaustive()
    }
}

fn memory_error(error: io::Error) -> JitError {
    JitError::Memory(error.kind())
}

#[cfg(test)]
mod tests;
