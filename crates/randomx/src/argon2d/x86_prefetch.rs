//! Prefetching a block.

use std::arch::x86_64::_mm_prefetch;

use super::Block;

/// Prefetches a block with the hint `HINT`.
#[inline]
#[target_feature(enable = "sse")]
pub(super) fn prefetch<const HINT: i32>(block: &Block) {
    for line in block.0.chunks(4) {
        // SAFETY: a prefetch is a hint, which faults at no address. (Newer compilers make it safe.)
        #[allow(unused_unsafe)]
        unsafe {
            _mm_prefetch::<HINT>(line.as_ptr().cast())
        };
    }
}
