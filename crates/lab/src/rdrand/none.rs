//! Where there are no such instructions.

use super::{Batch, Instruction, Width};

pub(super) fn is_there(_: Instruction) -> bool {
    false
}

/// # Safety
///
/// `is_there` must have been true.
pub(super) unsafe fn read(_: Instruction) -> Option<u64> {
    None
}

/// # Safety
///
/// `is_there` must have been true.
pub(super) unsafe fn batch(_: Instruction, _: Width, _: u32) -> Batch {
    Batch::default()
}
