//! Calling the code of a program: the one place of this room that Rust cannot check.

use std::marker::PhantomData;

use crate::engine::{DATASET_WINDOW, Lane};
use crate::jit::x86_64::code_memory::CodeMemory;
use crate::jit::{CodePages, JitError};
use crate::params::PROGRAM_ITERATIONS;
use crate::scratchpad::Scratchpad;
use crate::superscalar::Item;

/// What part of the loop a call runs, in the form that the code reads.
#[repr(C)]
pub(super) struct Stretch<'a> {
    /// The items that were passed, or where the program's dataset begins.
    pub(super) items: *const Item,
    /// Iterations to end.
    pub(super) ends: u64,
    /// Iterations to begin after one has ended.
    pub(super) begins: u64,
    /// Not zero to begin an iteration before any ends.
    pub(super) begin_first: u64,
    /// Not zero if `items` is a dataset of [`DATASET_WINDOW`] items.
    pub(super) dataset: u64,
    lifetime: PhantomData<&'a [Item]>,
}

impl<'a> Stretch<'a> {
    /// From one item to a later one; see [`Engine::advance`](crate::engine::Engine::advance).
    pub(super) fn with_items(items: &'a [Item], more: bool) -> Stretch<'a> {
        let begins = if more { items.len() } else { items.len().saturating_sub(1) };
        Stretch {
            items: items.as_ptr(),
            ends: items.len() as u64,
            begins: begins as u64,
            begin_first: u64::from(items.is_empty()),
            dataset: 0,
            lifetime: PhantomData,
        }
    }

    /// The whole loop, with a dataset from the program's offset on.
    pub(super) fn with_dataset(window: &'a [Item; DATASET_WINDOW]) -> Stretch<'a> {
        Stretch {
            items: window.as_ptr(),
            ends: PROGRAM_ITERATIONS as u64,
            begins: PROGRAM_ITERATIONS as u64 - 1,
            begin_first: 1,
            dataset: 1,
            lifetime: PhantomData,
        }
    }
}

/// The code of a program in executable memory.
#[derive(Debug)]
pub(super) struct Function(CodeMemory);

impl Function {
    /// Memory for `capacity` bytes of code; there is no function in it yet.
    pub(super) fn new(capacity: usize, pages: CodePages) -> Result<Function, JitError> {
        CodeMemory::new(capacity, pages).map(Function)
    }

    /// Replaces the function by `code`, a whole one from [`frame`](super::frame)'s way in to its
    /// way out.
    pub(super) fn replace(&mut self, code: &[u8]) -> Result<(), JitError> {
        self.0.write(code)
    }

    /// Calls the function; without one, after a refused `replace`, it does nothing.
    pub(super) fn call(&self, lane: &mut Lane, scratchpad: &mut Scratchpad, stretch: &Stretch<'_>) {
        type Entry = unsafe extern "sysv64" fn(&mut Lane, &mut Scratchpad, &Stretch<'_>);
        let Ok(entry) = self.0.entry() else { return };
        // SAFETY: `replace` put a whole function of this type there. It keeps to the lane, to the
        // scratchpad, because it masks all addresses, and to the items: it reads as many as it
        // ends iterations or, of a dataset, those that its mask lets it address.
        unsafe { std::mem::transmute::<*const u8, Entry>(entry)(lane, scratchpad, stretch) }
    }
}
