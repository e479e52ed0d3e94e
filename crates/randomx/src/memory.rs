//! Large zeroed buffers that may fail to be had: the cache and the scratchpads.
//!
//! Natively they are anonymous mappings on huge pages where the system grants them: nearly
//! every access to the cache is a TLB miss on 4 KiB pages. In WebAssembly they are ordinary
//! allocations, whose failure is an answer rather than a trap.

use bytemuck::{AnyBitPattern, NoUninit};

/// The size, and here the alignment, of a huge page on x86-64 and AArch64.
#[cfg(not(target_family = "wasm"))]
const HUGE_PAGE: usize = 2 << 20;

/// A cache line, the unit in which memory is handed out.
#[derive(Clone, Copy, Debug, bytemuck::Zeroable, bytemuck::Pod)]
#[repr(C, align(64))]
pub struct Line(pub [u64; 8]);

/// A zeroed buffer, aligned to 64 bytes at least.
pub struct Memory {
    #[cfg(not(target_family = "wasm"))]
    map: memmap2::MmapMut,
    #[cfg(not(target_family = "wasm"))]
    range: std::ops::Range<usize>,
    #[cfg(target_family = "wasm")]
    lines: Vec<Line>,
}

/// The system has no memory to give.
pub struct OutOfMemory;

impl Memory {
    /// Maps `bytes` zeroed bytes. `bytes` is a multiple of 64.
    #[cfg(not(target_family = "wasm"))]
    pub fn zeroed(bytes: usize) -> Result<Memory, OutOfMemory> {
        let map = memmap2::MmapMut::map_anon(bytes + HUGE_PAGE).map_err(|_| OutOfMemory)?;
        let start = map.as_ptr().align_offset(HUGE_PAGE);
        // Advice only: without huge pages everything works, slower.
        #[cfg(target_os = "linux")]
        let _ = map.advise_range(memmap2::Advice::HugePage, start, bytes);
        Ok(Memory { map, range: start..start + bytes })
    }

    /// Allocates `bytes` zeroed bytes. `bytes` is a multiple of 64.
    #[cfg(target_family = "wasm")]
    pub fn zeroed(bytes: usize) -> Result<Memory, OutOfMemory> {
        let count = bytes / size_of::<Line>();
        let mut lines = Vec::new();
        lines.try_reserve_exact(count).map_err(|_| OutOfMemory)?;
        lines.resize(count, Line([0; 8]));
        Ok(Memory { lines })
    }

    fn bytes(&self) -> &[u8] {
        #[cfg(not(target_family = "wasm"))]
        return &self.map[self.range.clone()];
        #[cfg(target_family = "wasm")]
        return bytemuck::cast_slice(&self.lines);
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        #[cfg(not(target_family = "wasm"))]
        return &mut self.map[self.range.clone()];
        #[cfg(target_family = "wasm")]
        return bytemuck::cast_slice_mut(&mut self.lines);
    }

    /// The buffer as a slice of `T`, which is at most 64-byte aligned and divides its size.
    pub fn as_slice<T: AnyBitPattern>(&self) -> &[T] {
        bytemuck::cast_slice(self.bytes())
    }

    /// The buffer as a mutable slice of `T`.
    pub fn as_mut_slice<T: AnyBitPattern + NoUninit>(&mut self) -> &mut [T] {
        bytemuck::cast_slice_mut(self.bytes_mut())
    }
}
