//! Calling the code of programs: the one place of this room that Rust cannot check.

use std::ptr;

use super::Code;
use super::turns::{MXCSR, ROUNDING_CONTROL};
use crate::engine::{Lane, LaneContext};
use crate::jit::x86_64::code_memory::CodeMemory;
use crate::jit::{CodePages, JitError};
use crate::params::{MAX_LANES, PROGRAM_ITERATIONS};
use crate::rounding::RoundingMode;
use crate::scratchpad::Scratchpad;
use crate::superscalar::Item;

/// What the lanes do in a call, one after the other.
#[derive(Clone, Copy)]
pub(super) enum Turn<'a> {
    /// Each begins an iteration.
    Begin,
    /// Each ends one with its item.
    End(&'a [Item]),
    /// Both.
    Iterate(&'a [Item]),
    /// They take turns in all iterations and read a dataset.
    Run(&'a [Item]),
}

impl Turn<'_> {
    /// What this one lane does.
    pub(super) fn of_lane(self, index: usize) -> Self {
        match self {
            Turn::Begin | Turn::Run(_) => self,
            Turn::End(items) => Turn::End(&items[index..=index]),
            Turn::Iterate(items) => Turn::Iterate(&items[index..=index]),
        }
    }
}

/// The bits in which the code is told the same.
pub(super) mod flag {
    pub(in super::super) const BEGIN: i32 = 1;
    pub(in super::super) const END: i32 = 2;
    pub(in super::super) const DATASET: i32 = 4;
    /// There is no other lane, so nothing has to be put away between iterations.
    pub(in super::super) const ALONE: i32 = 8;
}

/// A lane in the form that the code reads. The lanes of a call are an array.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Link {
    /// Where the lane's code takes over from another lane's.
    pub(super) takeover: *const u8,
    pub(super) lane: *mut Lane,
    pub(super) scratchpad: *mut Scratchpad,
    /// The lane's item, or the dataset from the program's offset on.
    pub(super) items: *const Item,
}

impl Link {
    const NONE: Link = Link {
        takeover: ptr::null(),
        lane: ptr::null_mut(),
        scratchpad: ptr::null_mut(),
        items: ptr::null(),
    };
}

/// The code of a program in executable memory.
#[derive(Debug)]
pub(super) struct Function {
    memory: CodeMemory,
    takeover: usize,
}

impl Function {
    /// Memory for `capacity` bytes of code; there is no function in it yet. Other lanes' code will
    /// jump to the byte `takeover`.
    pub(super) fn new(
        capacity: usize,
        takeover: usize,
        pages: CodePages,
    ) -> Result<Function, JitError> {
        Ok(Function { memory: CodeMemory::new(capacity, pages)?, takeover })
    }

    /// Replaces the function by `code`, a whole one from [`turns`](super::turns)' way in to the way
    /// out.
    pub(super) fn replace(&mut self, code: &[u8]) -> Result<(), JitError> {
        self.memory.write(code)
    }
}

/// Runs lanes whose code is in place. There are as many items as lanes, or a whole dataset.
pub(super) fn call(lanes: &mut [LaneContext<'_, Code>], turn: Turn<'_>) {
    for (group, lanes) in lanes.chunks_mut(MAX_LANES).enumerate() {
        call_group(lanes, group * MAX_LANES, turn);
    }
}

/// `first` is the place of the first lane's item.
fn call_group(lanes: &mut [LaneContext<'_, Code>], first: usize, turn: Turn<'_>) {
    type Entry = unsafe extern "sysv64" fn(*const Link, *const Link, u64, u64);
    let mut links = [Link::NONE; MAX_LANES];
    let mut entry = None;
    for (index, (link, context)) in links.iter_mut().zip(&mut *lanes).enumerate() {
        let Ok(code) = context.code.function.memory.entry() else { return };
        entry.get_or_insert(code);
        context.lane.mxcsr = MXCSR | (context.lane.rounding_mode as u32) << ROUNDING_CONTROL;
        *link = Link {
            takeover: code.wrapping_add(context.code.function.takeover),
            items: match turn {
                Turn::Begin => ptr::null(),
                Turn::End(items) | Turn::Iterate(items) => &raw const items[first + index],
                Turn::Run(dataset) => context.lane.window(dataset).as_ptr(),
            },
            lane: context.lane,
            scratchpad: context.scratchpad,
        };
    }
    let (flags, passes) = match turn {
        Turn::Begin => (flag::BEGIN, 1),
        Turn::End(_) => (flag::END, 1),
        Turn::Iterate(_) => (flag::BEGIN | flag::END, 1),
        Turn::Run(_) if lanes.len() == 1 => {
            (flag::BEGIN | flag::END | flag::DATASET | flag::ALONE, PROGRAM_ITERATIONS)
        }
        Turn::Run(_) => (flag::BEGIN | flag::END | flag::DATASET, PROGRAM_ITERATIONS),
    };
    let links = links[..lanes.len()].as_ptr_range();
    if let Some(entry) = entry {
        let (head, tail) = (links.start, links.end.wrapping_sub(1));
        // SAFETY: `Function::replace` put a whole function of this type at each entry. It keeps to
        // what the links point to, which the lanes borrow for the time of the call: to the lane, to
        // the scratchpad, because it masks all addresses, and to one item or, if `flags` say that
        // there is a dataset, to those that its mask lets it address in the window.
        unsafe {
            std::mem::transmute::<*const u8, Entry>(entry)(head, tail, passes as u64, flags as u64);
        }
    }
    for context in lanes {
        let fprc = context.lane.mxcsr >> ROUNDING_CONTROL;
        context.lane.rounding_mode = RoundingMode::from_fprc(u64::from(fprc));
    }
}
