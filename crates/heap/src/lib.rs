//! An allocator for modules of WebAssembly, which have one thread. It takes half a KiB of a download. The standard
//! library's allocator takes 3 KiB.
//!
//! The size of every block is a power of two. Freed blocks of one size form a list, and are never merged or split. So an
//! allocation takes a few steps, whatever was freed before. The price is memory: a block may be twice as large as what
//! is in it, and a freed block serves its own size only.

#![allow(unsafe_code, reason = "an allocator deals with raw memory")]

use std::alloc::{GlobalAlloc, Layout};
use std::cell::UnsafeCell;
use std::ptr;

/// The smallest block, which holds the link of a free one.
const SMALLEST: usize = 16;

/// The alignment of blocks of this size and more. No type here needs a greater one.
const ALIGNMENT: usize = 64;

/// Memory is taken from the system in pages.
const PAGE: usize = 64 << 10;

/// One list for each bit of an address.
const SIZES: usize = usize::BITS as usize;

/// Adds pages to the end of the memory. Returns the address of the first, or `None` if there are no more.
pub type Grow = fn(pages: usize) -> Option<*mut u8>;

/// The heap of a module.
pub struct Heap {
    grow: Grow,
    state: UnsafeCell<State>,
}

struct State {
    /// The first free block of each size.
    free: [*mut Free; SIZES],
    /// The memory after the last block, and its length.
    rest: *mut u8,
    left: usize,
}

/// A free block's first bytes.
struct Free {
    next: *mut Free,
}

// SAFETY: only modules without threads use a heap, and tests from one thread.
unsafe impl Sync for Heap {}

impl Heap {
    /// Creates a heap without memory.
    pub const fn new(grow: Grow) -> Heap {
        let state = State { free: [ptr::null_mut(); SIZES], rest: ptr::null_mut(), left: 0 };
        Heap { grow, state: UnsafeCell::new(state) }
    }

    /// Cuts a block off the memory that was never used. Returns null if there is not enough.
    fn cut(&self, state: &mut State, size: usize) -> *mut u8 {
        // Sums would overflow.
        if size > isize::MAX as usize / 2 {
            return ptr::null_mut();
        }
        let mut gap = state.rest.align_offset(size.min(ALIGNMENT));
        if gap + size > state.left {
            let pages = (gap + size).div_ceil(PAGE);
            let Some(added) = (self.grow)(pages) else { return ptr::null_mut() };
            if state.rest.wrapping_add(state.left) != added {
                // Somebody else has grown the memory. Pages are aligned.
                (state.rest, state.left, gap) = (added, 0, 0);
            }
            state.left += pages * PAGE;
        }
        let block = state.rest.wrapping_add(gap);
        state.rest = block.wrapping_add(size);
        state.left -= gap + size;
        block
    }
}

/// Returns the size of a layout's block: also its alignment, up to [`ALIGNMENT`].
fn block_size(layout: Layout) -> Option<usize> {
    let size = layout.size().max(layout.align()).max(SMALLEST);
    if layout.align() > ALIGNMENT { None } else { size.checked_next_power_of_two() }
}

// SAFETY: `alloc` returns null or a block that nobody else has: it leaves its list, or was never used. A block is as
// large and as aligned as `block_size` demands.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let Some(size) = block_size(layout) else { return ptr::null_mut() };
        // SAFETY: there is one thread, and nothing here calls the allocator again.
        let state = unsafe { &mut *self.state.get() };
        let first = &mut state.free[size.trailing_zeros() as usize];
        if first.is_null() {
            return self.cut(state, size);
        }
        let block = *first;
        // SAFETY: blocks in the list are free, and begin with a link.
        *first = unsafe { (*block).next };
        block.cast()
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        let Some(size) = block_size(layout) else { return };
        // SAFETY: as in `alloc`.
        let state = unsafe { &mut *self.state.get() };
        let first = &mut state.free[size.trailing_zeros() as usize];
        let free: *mut Free = block.cast();
        // SAFETY: the caller gives up the block, which is large and aligned enough for a link.
        unsafe { free.write(Free { next: *first }) };
        *first = free;
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, wanted: usize) -> *mut u8 {
        // SAFETY: the caller guarantees that the size fits the alignment.
        let larger = unsafe { Layout::from_size_align_unchecked(wanted, layout.align()) };
        if block_size(larger) == block_size(layout) {
            return block;
        }
        // SAFETY: by the contract of `realloc`.
        let moved = unsafe { self.alloc(larger) };
        if !moved.is_null() {
            // SAFETY: the blocks are distinct, and both have at least so many bytes. The caller gives up the old one.
            unsafe {
                ptr::copy_nonoverlapping(block, moved, layout.size().min(wanted));
                self.dealloc(block, layout);
            }
        }
        moved
    }
}

/// Makes a [`Heap`] the allocator of a module.
#[macro_export]
macro_rules! use_heap {
    () => {
        #[cfg(target_arch = "wasm32")]
        #[global_allocator]
        static HEAP: $crate::Heap = $crate::Heap::new($crate::grow);
    };
}

/// Grows the module's memory.
#[cfg(target_arch = "wasm32")]
pub fn grow(pages: usize) -> Option<*mut u8> {
    let before = core::arch::wasm32::memory_grow::<0>(pages);
    (before != usize::MAX).then(|| ptr::without_provenance_mut(before * PAGE))
}

#[cfg(test)]
mod tests;
