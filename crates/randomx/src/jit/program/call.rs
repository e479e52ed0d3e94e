//! Calls the code of programs. This is the only unsafe code in this module.

#![expect(unsafe_code, reason = "calls machine code")]

use std::ops::Range;
use std::ptr;

use super::Isa;
use super::link::{Link, flag};
use crate::engine::{ItemPrefetches, LaneContext};
use crate::jit::code_memory::CodeMemory;
use crate::jit::{CodePages, JitError};
use crate::params::{MAX_LANES, PROGRAM_ITERATIONS};
use crate::superscalar::Item;

/// The work of each lane in a call. The lanes take turns.
#[derive(Clone, Copy)]
pub(super) enum Turn<'a> {
    /// Begins an iteration.
    Begin,
    /// Ends an iteration. There is one item per lane.
    End(&'a [Item]),
    /// Begins and ends an iteration.
    Iterate(&'a [Item]),
    /// Runs all iterations, one in each turn, with items of a dataset.
    Run(&'a [Item], ItemPrefetches),
}

impl Turn<'_> {
    /// Returns the turn of some of the lanes.
    #[inline]
    pub(super) fn of(self, lanes: Range<usize>) -> Self {
        match self {
            Turn::Begin | Turn::Run(..) => self,
            Turn::End(items) => Turn::End(&items[lanes]),
            Turn::Iterate(items) => Turn::Iterate(&items[lanes]),
        }
    }
}

/// The code of a program in executable memory.
#[derive(Debug)]
pub(super) struct Function {
    memory: CodeMemory,
    takeover: usize,
}

impl Function {
    /// Puts `code` into `capacity` bytes of executable memory. It has to be a whole function, from the
    /// entry to the exit. Other lanes' code jumps to the offset `takeover`.
    pub(super) fn new(
        code: &[u8],
        capacity: usize,
        takeover: usize,
        pages: CodePages,
    ) -> Result<Function, JitError> {
        Ok(Function { memory: CodeMemory::new(code, capacity, pages)?, takeover })
    }

    /// Replaces the function by another one with the same `takeover`.
    pub(super) fn replace(self, code: &[u8]) -> Result<Function, JitError> {
        let Function { memory, takeover } = self;
        Ok(Function { memory: memory.replace(code)?, takeover })
    }
}

/// Space for the links of a [`Chain`]. The caller holds it: when a chain contained it, moving the chain took
/// 6 % of the time of a single hash in light mode.
pub(super) type Links = [Link; MAX_LANES];

/// No links.
pub(super) const NO_LINKS: Links = [Link::NONE; MAX_LANES];

/// Lanes that are ready to be called: each has code in this process.
pub(super) struct Chain<'a> {
    entry: *const u8,
    /// They point to lanes, scratchpads, items and code that are borrowed for as long.
    links: &'a [Link],
    flags: i32,
    turns: usize,
}

impl<'a> Chain<'a> {
    /// Links up to [`MAX_LANES`] lanes, in `links`. Returns `None` if there is no lane, if `function`
    /// returns `None` for one, or if this process is a fork that lacks the pages of one.
    ///
    /// # Panics
    ///
    /// If there are more lanes, if `turn` has fewer items than lanes, or if its dataset lacks items that the program
    /// of a lane can read.
    #[inline(always)]
    pub(super) fn new<I: Isa, C>(
        lanes: &'a mut [LaneContext<'_, C>],
        function: impl Fn(&C) -> Option<&Function>,
        turn: Turn<'a>,
        links: &'a mut Links,
    ) -> Option<Chain<'a>> {
        let count = lanes.len();
        assert!(count <= MAX_LANES, "at most {MAX_LANES} lanes, not {count}");
        let mut entry = None;
        for (index, (link, context)) in links.iter_mut().zip(lanes).enumerate() {
            let function = function(context.code)?;
            let code = function.memory.entry()?;
            entry.get_or_insert(code);
            context.lane.control = I::control(context.lane.rounding_mode);
            *link = Link {
                takeover: code.wrapping_add(function.takeover),
                items: match turn {
                    Turn::Begin => ptr::null(),
                    Turn::End(items) | Turn::Iterate(items) => &raw const items[index],
                    Turn::Run(dataset, _) => context.lane.window(dataset).as_ptr(),
                },
                lane: context.lane,
                scratchpad: context.scratchpad,
            };
        }
        let (flags, turns) = match turn {
            Turn::Begin => (flag::BEGIN, 1),
            Turn::End(_) => (flag::END, 1),
            Turn::Iterate(_) => (flag::BEGIN | flag::END, 1),
            Turn::Run(_, prefetches) => {
                let alone = if count == 1 { flag::ALONE } else { 0 };
                let pairs = if prefetches == ItemPrefetches::Pairs { flag::PAIRS } else { 0 };
                let flags = flag::BEGIN | flag::END | flag::DATASET | alone | pairs;
                (flags, PROGRAM_ITERATIONS)
            }
        };
        let links = &links[..count];
        Some(Chain { entry: entry?, links, flags, turns })
    }

    /// Runs the lanes.
    #[inline(always)]
    pub(super) fn call<I: Isa>(&self) {
        let links = self.links;
        let (first, last) = (links.as_ptr(), &raw const links[links.len() - 1]);
        // SAFETY: `entry` is the start of a whole function of `I`. This process has its pages:
        // `new` has checked that, and no fork happens in between. The function accesses only what
        // the links point to, all of it borrowed for 'a: the lane, the scratchpad, because it masks
        // all addresses, and one item or, if the flags say that there is a dataset, items of the
        // window, because it masks their addresses too. It accesses 16 bytes at once in the lane, at
        // the offsets of its fields, and in the scratchpad, at masked addresses. Both are aligned for
        // that: the lane by its type, the scratchpad to 64 bytes.
        unsafe { I::call(self.entry, first, last, self.turns as u64, self.flags as u64) };
        for link in links {
            // SAFETY: the lane is borrowed for 'a, and the call above has returned.
            let lane = unsafe { &mut *link.lane };
            lane.rounding_mode = I::rounding_mode(lane.control);
        }
    }
}
