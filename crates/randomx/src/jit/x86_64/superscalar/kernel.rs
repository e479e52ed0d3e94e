//! Registers and constants of the kernels of all widths.

use std::collections::HashMap;

use crate::jit::x86_64::assembler::{Assembler, Gpr, Label, Mem};
use crate::params::CACHE_SIZE;

/// The lines of the cache, throughout a kernel.
pub(super) const LINES: Gpr = Gpr::Rdi;
pub(super) const NUMBERS: Gpr = Gpr::Rsi;
pub(super) const ITEMS: Gpr = Gpr::Rdx;
pub(super) const LAST_ARGUMENT: Gpr = Gpr::Rcx;

/// The binary logarithm of [`LINE`].
pub(super) const LINE_SHIFT: u8 = 6;
/// Bytes of a line of the cache, and of an item.
pub(super) const LINE: i32 = 1 << LINE_SHIFT;
/// The bits of a register that select a line of the cache.
pub(super) const LINE_MASK: i32 = (CACHE_SIZE as i32 >> LINE_SHIFT) - 1;

/// The constants of the code, which follow it in memory.
pub(super) struct Pool {
    words: Constants<1>,
    vectors: Constants<4>,
}

/// Distinct constants of `N` words of 64 bits each.
struct Constants<const N: usize> {
    label: Label,
    constants: Vec<[u64; N]>,
    places: HashMap<[u64; N], i32>,
}

impl Pool {
    pub(super) fn new(a: &mut Assembler) -> Pool {
        Pool { words: Constants::new(a), vectors: Constants::new(a) }
    }

    /// Returns the operand that reads `value`.
    pub(super) fn constant(&mut self, value: u64) -> Mem {
        self.words.operand([value])
    }

    /// Returns the operand that reads `elements`, aligned to 32 bytes.
    pub(super) fn vector(&mut self, elements: [u64; 4]) -> Mem {
        self.vectors.operand(elements)
    }

    /// Emits the constants.
    pub(super) fn emit(self, a: &mut Assembler) {
        self.vectors.emit(a);
        self.words.emit(a);
    }
}

impl<const N: usize> Constants<N> {
    fn new(a: &mut Assembler) -> Self {
        Constants { label: a.label(), constants: Vec::new(), places: HashMap::new() }
    }

    fn operand(&mut self, constant: [u64; N]) -> Mem {
        let place = *self.places.entry(constant).or_insert_with(|| {
            self.constants.push(constant);
            8 * N as i32 * (self.constants.len() as i32 - 1)
        });
        Mem::label(self.label, place)
    }

    fn emit(self, a: &mut Assembler) {
        a.align(LINE as usize);
        a.bind(self.label);
        for word in self.constants.into_iter().flatten() {
            a.data(word);
        }
    }
}
