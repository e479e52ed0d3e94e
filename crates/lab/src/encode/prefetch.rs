//! Prefetching a node, on processors with an instruction for it.

#![allow(unsafe_code, reason = "prefetches")]

use super::Node;

#[inline(always)]
#[cfg(target_arch = "x86_64")]
pub(super) fn fetch(node: &Node) {
    use std::arch::x86_64::*;
    // SAFETY: a prefetch is a hint that never faults, and SSE is part of x86-64.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(node).cast()) };
}

#[inline(always)]
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn fetch(_: &Node) {}
