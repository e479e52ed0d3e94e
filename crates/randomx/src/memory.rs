//! Fallible large allocations, zeroed: the cache, the dataset and the scratchpads.
//!
//! Nearly every access to the cache or the dataset is a TLB miss on 4 KiB pages, so native buffers
//! are anonymous mappings on the largest pages that the system grants. In WebAssembly they are
//! ordinary allocations, whose failure is an error and not a trap.

#[cfg(target_os = "linux")]
mod available;
#[cfg_attr(not(any(target_family = "wasm", windows)), path = "memory/mapped.rs")]
#[cfg_attr(target_family = "wasm", path = "memory/allocated.rs")]
#[cfg_attr(windows, path = "memory/windows.rs")]
mod buffer;
#[cfg(target_os = "linux")]
mod linux;

use std::fmt;

use bytemuck::{AnyBitPattern, NoUninit};

use buffer::Buffer;

/// A cache line, the unit of allocation.
#[derive(Clone, Copy, Debug, bytemuck::Zeroable, bytemuck::Pod)]
#[repr(C, align(64))]
pub struct Line(pub [u64; 8]);

/// The kind of memory pages that hold a buffer, fastest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pages {
    /// Huge pages that the administrator reserved: hugetlbfs. On Windows, large pages, which the
    /// administrator permits.
    HugeTlb,
    /// Transparent huge pages: the system makes as many pages huge as it can.
    Transparent,
    /// Ordinary pages.
    Plain,
}

impl fmt::Display for Pages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Pages::HugeTlb if cfg!(windows) => "large pages",
            Pages::HugeTlb => "reserved huge pages",
            Pages::Transparent => "transparent huge pages",
            Pages::Plain => "plain pages",
        })
    }
}

/// The memory that counts as left for an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// Memory that nothing uses. Datasets need it: they would be useless in swap.
    Memory,
    /// Free swap too, to which the system can move what is rarely used. Caches and scratchpads may force that, as
    /// those of the reference do.
    MemoryAndSwap,
}

/// Returns whether `bytes` are left to this process: in the machine, and in the control groups that limit it. `true`
/// where the system does not report it.
pub fn is_available(bytes: usize, room: Room) -> bool {
    #[cfg(target_os = "linux")]
    let left = available::bytes(room);
    // Windows itself refuses what exceeds memory and swap.
    #[cfg(windows)]
    let left = if room == Room::Memory { buffer::available() } else { None };
    #[cfg(not(any(target_os = "linux", windows)))]
    let left: Option<u64> = {
        let _ = room;
        None
    };
    left.is_none_or(|left| bytes as u64 <= left)
}

/// A zeroed buffer, aligned to at least 64 bytes. Dropping it releases the memory.
pub struct Memory(Buffer);

/// An allocation failed.
#[derive(Debug)]
pub struct OutOfMemory;

impl Memory {
    /// Allocates `bytes` zeroed bytes, a multiple of 64.
    ///
    /// # Errors
    ///
    /// [`OutOfMemory`] if the system refuses.
    pub fn zeroed(bytes: usize) -> Result<Memory, OutOfMemory> {
        Buffer::zeroed(bytes).map(Memory)
    }

    /// Allocates `bytes` zeroed bytes, a multiple of 64, if [`is_available`] says that there are so
    /// many. A system that overcommits memory would otherwise kill the process when it uses them.
    ///
    /// # Errors
    ///
    /// [`OutOfMemory`] if the system refuses or has too little left.
    pub fn zeroed_if_available(bytes: usize, room: Room) -> Result<Memory, OutOfMemory> {
        let memory = Memory::zeroed(bytes)?;
        // Reserved pages do not count as left, and already belong to the buffer.
        if memory.pages() == Pages::HugeTlb || is_available(bytes, room) {
            Ok(memory)
        } else {
            Err(OutOfMemory)
        }
    }

    /// Releases all but the first `bytes` bytes, a multiple of 64 and at least 64. Those stay in their place, on their
    /// pages. Returns `false` and releases nothing if there are no more, or if the system cannot release a part.
    pub fn shrink(&mut self, bytes: usize) -> bool {
        bytes > 0 && bytes < self.0.bytes().len() && self.0.shrink(bytes)
    }

    /// Returns the kind of pages that hold the buffer.
    pub fn pages(&self) -> Pages {
        self.0.pages()
    }

    /// Returns the bytes that lie on huge pages at this moment, where the system reports it. A page
    /// counts once it has been written.
    pub fn huge_bytes(&self) -> Option<usize> {
        self.0.huge_bytes()
    }

    /// Returns the buffer as a slice of `T`, whose alignment is at most 64 and whose size divides
    /// the buffer's.
    pub fn as_slice<T: AnyBitPattern>(&self) -> &[T] {
        bytemuck::cast_slice(self.0.bytes())
    }

    /// Returns the buffer's address, for code in other languages. It is fixed while the buffer
    /// lives, and may be written through this pointer while nothing borrows the buffer.
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.0.as_mut_ptr()
    }

    /// Returns the buffer as a mutable slice of `T`.
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
    fn a_shorter_buffer_keeps_its_bytes_and_its_place() {
        for (bytes, kept) in [(16 << 20, 4 << 20), (6 << 20, 64), (12_288, 4160)] {
            let mut memory = Memory::zeroed(bytes).expect("a few MiB");
            memory.as_mut_slice::<Line>().fill(Line([1; 8]));
            let (start, pages) = (memory.as_mut_ptr(), memory.pages());
            for refused in [0, bytes, bytes + 64] {
                assert!(!memory.shrink(refused));
            }
            let shrunk = memory.shrink(kept);
            // Others keep it all, and so do systems for large pages.
            if cfg!(target_os = "linux") || (cfg!(windows) && pages == Pages::Plain) {
                assert!(shrunk, "{kept} of {bytes} bytes");
            }
            assert_eq!((memory.as_mut_ptr(), memory.pages()), (start, pages));
            let lines = memory.as_mut_slice::<Line>();
            assert_eq!(lines.len() * 64, if shrunk { kept } else { bytes });
            assert!(lines.iter().all(|line| line.0 == [1; 8]));
        }
    }

    #[test]
    fn impossible_allocations_are_errors() {
        let most = isize::MAX as usize & !63;
        assert!(Memory::zeroed(most).is_err());
        assert!(Memory::zeroed_if_available(most, Room::MemoryAndSwap).is_err());
    }

    /// A system that overcommits would map this much. A process of 32 bits cannot ask for more than there is.
    #[cfg(all(target_os = "linux", target_pointer_width = "64"))]
    #[test]
    fn overcommitted_memory_is_not_available() {
        for room in [Room::Memory, Room::MemoryAndSwap] {
            assert!(Memory::zeroed_if_available(64, room).is_ok());
            loop {
                let Some(left) = available::bytes(room) else {
                    randomx_testing::say(
                        "skipped: the system does not report how much memory is left",
                    );
                    return;
                };
                assert!(!is_available(usize::MAX, room));
                let more = (left as usize + (1 << 30)) & !63;
                let refused = Memory::zeroed_if_available(more, room).is_err();
                // Other processes may have released as much meanwhile.
                if available::bytes(room).is_none_or(|left| left < more as u64) {
                    assert!(refused, "{more} bytes of {left}");
                    break;
                }
            }
        }
    }

    #[test]
    fn pages_and_huge_bytes_are_consistent() {
        let bytes = 8 << 20;
        let mut memory = Memory::zeroed(bytes).expect("8 MiB");
        memory.as_mut_slice::<Line>().fill(Line([1; 8]));
        let (pages, huge) = (memory.pages(), memory.huge_bytes());
        println!("{pages}, {huge:?} bytes on huge pages");
        match pages {
            Pages::HugeTlb => assert_eq!(huge, Some(bytes)),
            // The system decides how many to grant.
            Pages::Transparent => assert!(huge.is_none_or(|huge| huge <= bytes)),
            Pages::Plain => assert_eq!(huge, Some(0)),
        }
    }
}
