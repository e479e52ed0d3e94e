//! Large zeroed buffers that may fail to be had: the cache, the dataset and the scratchpads.
//!
//! Nearly every access to the cache or the dataset is a TLB miss on 4 KiB pages, so natively the
//! buffers are anonymous mappings on the largest pages that the system grants. In WebAssembly
//! they are ordinary allocations, whose failure is an answer rather than a trap.

#[cfg(target_os = "linux")]
mod available;
#[cfg_attr(not(target_family = "wasm"), path = "memory/mapped.rs")]
#[cfg_attr(target_family = "wasm", path = "memory/allocated.rs")]
mod buffer;
#[cfg(target_os = "linux")]
mod linux;

use std::fmt;

use bytemuck::{AnyBitPattern, NoUninit};

use buffer::Buffer;

/// A cache line, the unit in which memory is handed out.
#[derive(Clone, Copy, Debug, bytemuck::Zeroable, bytemuck::Pod)]
#[repr(C, align(64))]
pub struct Line(pub [u64; 8]);

/// What kind of pages a buffer was given, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pages {
    /// Huge pages that the administrator has reserved: hugetlbfs.
    HugeTlb,
    /// Transparent huge pages: the system makes as many of the pages huge as it can.
    Transparent,
    /// Ordinary pages.
    Plain,
}

impl fmt::Display for Pages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Pages::HugeTlb => "reserved huge pages",
            Pages::Transparent => "transparent huge pages",
            Pages::Plain => "plain pages",
        })
    }
}

/// Whether the machine has so much memory left, as far as the system tells.
pub fn is_available(bytes: usize) -> bool {
    #[cfg(target_os = "linux")]
    let left = available::bytes();
    #[cfg(not(target_os = "linux"))]
    let left: Option<usize> = None;
    left.is_none_or(|left| bytes <= left)
}

/// A zeroed buffer, aligned to 64 bytes at least. Its memory goes back when it is dropped.
pub struct Memory(Buffer);

/// The system has no memory to give.
#[derive(Debug)]
pub struct OutOfMemory;

impl Memory {
    /// Asks for `bytes` zeroed bytes, a multiple of 64.
    pub fn zeroed(bytes: usize) -> Result<Memory, OutOfMemory> {
        Buffer::zeroed(bytes).map(Memory)
    }

    /// The same for a buffer that may be larger than what the machine has left. Systems that
    /// promise more memory than they have would end the process once it is used; as far as one
    /// can tell beforehand, this is an error instead.
    pub fn zeroed_if_available(bytes: usize) -> Result<Memory, OutOfMemory> {
        let memory = Memory::zeroed(bytes)?;
        // Reserved pages are no part of what is left, and belong to the buffer already.
        if memory.pages() == Pages::HugeTlb || is_available(bytes) {
            Ok(memory)
        } else {
            Err(OutOfMemory)
        }
    }

    /// The kind of pages that the buffer was given.
    pub fn pages(&self) -> Pages {
        self.0.pages()
    }

    /// Bytes that lie on huge pages at this moment, where the system tells. Pages count once
    /// they have been written to.
    pub fn huge_bytes(&self) -> Option<usize> {
        self.0.huge_bytes()
    }

    /// The buffer as a slice of `T`, which is at most 64-byte aligned and divides its size.
    pub fn as_slice<T: AnyBitPattern>(&self) -> &[T] {
        bytemuck::cast_slice(self.0.bytes())
    }

    /// Where the buffer is, for those who hand it to other languages: it stays there as long as
    /// it lives, and may be written through this pointer while nothing borrows it.
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.0.as_mut_ptr()
    }

    /// The buffer as a mutable slice of `T`.
    pub fn as_mut_slice<T: AnyBitPattern + NoUninit>(&mut self) -> &mut [T] {
        bytemuck::cast_slice_mut(self.0.bytes_mut())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_zeroed_aligned_and_of_the_size_asked_for() {
        for bytes in [64, 4096, (2 << 20) - 64, 2 << 20, (6 << 20) + 64] {
            let mut memory = Memory::zeroed(bytes).expect("a few MiB");
            let lines = memory.as_mut_slice::<Line>();
            assert_eq!(lines.len() * 64, bytes);
            assert!(lines.iter().all(|line| line.0 == [0; 8]));
            lines.fill(Line([1; 8]));
            assert!(memory.as_slice::<u64>().iter().all(|&word| word == 1));
        }
    }

    #[test]
    fn no_memory_is_an_answer() {
        assert!(Memory::zeroed(1 << 60).is_err());
        assert!(Memory::zeroed_if_available(1 << 60).is_err());
    }

    /// Half of the address space can be had where the system promises more than it has, but it
    /// is not there.
    #[cfg(target_os = "linux")]
    #[test]
    fn memory_that_is_only_promised_is_not_available() {
        let Some(left) = available::bytes() else {
            println!("skipped: the system does not tell how much memory is left");
            return;
        };
        let more = (left + (1 << 30)) & !63;
        assert!(Memory::zeroed_if_available(more).is_err(), "{more} bytes of {left}");
        assert!(Memory::zeroed_if_available(64).is_ok());
    }

    #[test]
    fn pages_are_told() {
        let bytes = 8 << 20;
        let mut memory = Memory::zeroed(bytes).expect("8 MiB");
        memory.as_mut_slice::<Line>().fill(Line([1; 8]));
        let (pages, huge) = (memory.pages(), memory.huge_bytes());
        println!("{pages}, {huge:?} bytes on huge ones");
        match pages {
            Pages::HugeTlb => assert_eq!(huge, Some(bytes)),
            // How many the system grants is its own affair.
            Pages::Transparent => assert!(huge.is_none_or(|huge| huge <= bytes)),
            Pages::Plain => assert_eq!(huge, Some(0)),
        }
    }
}
