//! The interface between the code of programs and its caller.

use std::ptr;

use crate::engine::Lane;
use crate::scratchpad::Scratchpad;
use crate::superscalar::Item;

/// MXCSR for RandomX, without the rounding mode: all exceptions masked, denormals are zero. The
/// loop's values are never denormal; without the two bits an operand could still make the
/// processor slow.
pub(super) const MXCSR: u32 = 0x9fc0;

/// The position in MXCSR of the two bits of `fprc`.
pub(super) const ROUNDING_CONTROL: u8 = 13;

/// The bits of a call's last argument: the work of each lane.
pub(super) mod flag {
    pub(in super::super) const BEGIN: i32 = 1;
    pub(in super::super) const END: i32 = 2;
    pub(in super::super) const DATASET: i32 = 4;
    /// There is no other lane, so registers need not be stored between iterations.
    pub(in super::super) const ALONE: i32 = 8;
}

/// A lane as the code reads it. The lanes of a call are an array.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Link {
    /// The address in the lane's code that other lanes' code jumps to.
    pub(super) takeover: *const u8,
    pub(super) lane: *mut Lane,
    pub(super) scratchpad: *mut Scratchpad,
    /// The lane's item, or the dataset from the program's offset on.
    pub(super) items: *const Item,
}

impl Link {
    pub(super) const NONE: Link = Link {
        takeover: ptr::null(),
        lane: ptr::null_mut(),
        scratchpad: ptr::null_mut(),
        items: ptr::null(),
    };
}

/// The type of a program's function: the first link and the last, how many turns each lane has,
/// and [`flag`]s.
pub(super) type Entry = unsafe extern "sysv64" fn(*const Link, *const Link, u64, u64);
