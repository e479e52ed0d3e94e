//! What the kernels of all widths share: their registers, and the constants behind their code.

use std::collections::HashMap;

use crate::jit::x86_64::assembler::{Assembler, Gpr, Label, Mem};
use crate::params::CACHE_SIZE;

/// The cache, from the first instruction of a kernel to the last.
pub(super) const LINES: Gpr = Gpr::Rdi;
pub(super) const NUMBERS: Gpr = Gpr::Rsi;
pub(super) const ITEMS: Gpr = Gpr::Rdx;
pub(super) const LAST_ARGUMENT: Gpr = Gpr::Rcx;

/// Bytes of a line of the cache, and of an item, are a power of two: this one.
pub(super) const LINE_SHIFT: u8 = 6;
/// Bytes of a line of the cache, and of an item.
pub(super) const LINE: i32 = 1 << LINE_SHIFT;
/// What is left of a register that selects a line of the cache.
pub(super) const LINE_MASK: i32 = (CACHE_SIZE as i32 >> LINE_SHIFT) - 1;

/// Constants that the code reads from behind itself.
pub(super) struct Pool {
    label: Label,
    constants: Vec<u64>,
    places: HashMap<u64, i32>,
}

impl Pool {
    pub(super) fn new(a: &mut Assembler) -> Pool {
        Pool { label: a.label(), constants: Vec::new(), places: HashMap::new() }
    }

    /// Where `value` will be.
    pub(super) fn constant(&mut self, value: u64) -> Mem {
        let place = *self.places.entry(value).or_insert_with(|| {
            self.constants.push(value);
            8 * (self.constants.len() as i32 - 1)
        });
        Mem::label(self.label, place)
    }

    /// Puts the constants here.
    pub(super) fn emit(self, a: &mut Assembler) {
        a.align(LINE as usize);
        a.bind(self.label);
        for constant in self.constants {
            a.data(constant);
        }
    }
}
