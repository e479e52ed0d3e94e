//! Engines that compile programs and SuperscalarHash to machine code or to WebAssembly.

pub use crate::error::JitError;

// Machine code reads addresses of 64 bits from memory, and `environment` passes one in a whole register.
#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(target_pointer_width = "64")))]
compile_error!("x86-64 and ARM64 are supported with pointers of 64 bits only");

// Machine code for ARM64 loads and stores numbers in the processor's byte order, and RandomX's numbers are little-endian.
#[cfg(all(target_arch = "aarch64", target_endian = "big"))]
compile_error!("ARM64 is supported in little-endian byte order only");

// Its code is also read by tests on other processors.
#[cfg(any(target_arch = "aarch64", all(test, target_arch = "x86_64")))]
pub mod aarch64;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod absent;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub mod code_memory;
pub mod native;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub mod program;
#[cfg(feature = "internals")]
pub mod wasm;
#[cfg(target_arch = "x86_64")]
pub mod x86_64;

/// How pages of machine code are written. No address is ever writable and executable at once. On Apple's ARM64
/// processors this is true for each thread: one can write a page while others execute it.
///
/// A process and its forks never share a page of code that one of them can write. One exception: another thread forks in
/// the moment when a VM maps [`Aliased`](Self::Aliased) pages. [`Flipped`](Self::Flipped) pages have no such moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CodePages {
    /// Programs are written at one address and run at another, so that a new program costs no
    /// system call. A forked child has neither address: it maps new pages for the next program. See also
    /// [`VmOptions::lanes`](crate::VmOptions::lanes) about forks.
    ///
    /// This needs Linux 4.14 and an `RLIMIT_FSIZE` of some KiB; elsewhere, and in emulators that do not
    /// notice that code was replaced this way, the pages are [`Flipped`](Self::Flipped). A signal
    /// handler that interrupts a hash, the creation of [`Items`](crate::Items) or of a VM, or a change of its key, must
    /// not fork a child that returns to it: the child lacks the code.
    #[default]
    Aliased,
    /// Pages have one address and are either writable or executable. This is the more secure way: except on Apple's
    /// ARM64 processors, an executable page is writable nowhere. A program costs two system calls, three on Windows, and
    /// none on Apple's ARM64 processors.
    Flipped,
}
