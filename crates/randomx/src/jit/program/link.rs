//! The interface between the code of programs and its caller.

use std::ptr;

use crate::engine::Lane;
use crate::scratchpad::Scratchpad;
use crate::superscalar::Item;

pub mod flag {
    //! The bits of a call's last argument: the work of each lane.

    /// Begins an iteration.
    pub const BEGIN: i32 = 1;
    /// Ends an iteration.
    pub const END: i32 = 2;
    /// The items are those of a dataset.
    pub const DATASET: i32 = 4;
    /// There is no other lane, so registers need not be stored between iterations.
    pub const ALONE: i32 = 8;
    /// [`ItemPrefetches::Pairs`](crate::engine::ItemPrefetches::Pairs).
    pub const PAIRS: i32 = 16;
}

/// A lane as the code reads it. The lanes of a call are an array.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Link {
    /// The address in the lane's code that other lanes' code jumps to.
    pub takeover: *const u8,
    /// The lane.
    pub lane: *mut Lane,
    /// The lane's scratchpad.
    pub scratchpad: *mut Scratchpad,
    /// The lane's item, or the dataset from the program's offset on.
    pub items: *const Item,
}

impl Link {
    pub(super) const NONE: Link = Link {
        takeover: ptr::null(),
        lane: ptr::null_mut(),
        scratchpad: ptr::null_mut(),
        items: ptr::null(),
    };
}
