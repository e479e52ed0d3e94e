//! Buffers from the allocator, for WebAssembly, which has no choice of pages.

use super::{Line, OutOfMemory, Pages};

pub struct Buffer(Vec<Line>);

impl Buffer {
    pub fn zeroed(bytes: usize) -> Result<Buffer, OutOfMemory> {
        let count = bytes / size_of::<Line>();
        let mut lines = Vec::new();
        lines.try_reserve_exact(count).map_err(|_| OutOfMemory)?;
        lines.resize(count, Line([0; 8]));
        Ok(Buffer(lines))
    }

    pub fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(&self.0)
    }

    pub fn bytes_mut(&mut self) -> &mut [u8] {
        bytemuck::cast_slice_mut(&mut self.0)
    }

    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.0.as_mut_ptr().cast()
    }

    pub fn pages(&self) -> Pages {
        Pages::Plain
    }

    /// The memory of WebAssembly never shrinks.
    pub fn shrink(&mut self, _: usize) -> bool {
        false
    }

    pub fn huge_bytes(&self) -> Option<usize> {
        Some(0)
    }
}
