//! Fetching a block before it is needed.

use std::arch::x86_64::_mm_prefetch;

use super::Block;

/// Fetches a block as `HINT` says.
#[inline]
#[target_feature(enable = "sse")]
pub(super) fn prefetch<const HINT: i32>(block: &Block) {
    for line in block.0.chunks(4) {
        // SAFETY: a prefetch is a hint, which faults at no address. (Newer compilers know.)
        #[allow(unused_unsafe)]
        unsafe {
            _mm_prefetch::<HINT>(line.as_ptr().cast())
        };
    }
}
