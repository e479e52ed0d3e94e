//! The stand-in for other architectures, which lack the instructions.

#![expect(unsafe_code, reason = "declares the functions of the module for x86-64")]

use super::{Batch, Instruction, Width};

pub(super) fn is_available(_: Instruction) -> bool {
    false
}

/// # Safety
///
/// `is_available` must have returned true.
pub(super) unsafe fn read(_: Instruction) -> Option<u64> {
    None
}

/// # Safety
///
/// `is_available` must have returned true.
pub(super) unsafe fn batch(_: Instruction, _: Width, _: u32) -> Batch {
    Batch::default()
}
