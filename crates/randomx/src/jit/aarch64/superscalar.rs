//! SuperscalarHash (specification 6 and 7.3) as machine code, for the functions of one key.
//!
//! NEON has no products of 64 bits, so items are computed in general purpose registers: two side by
//! side, which share the loads of constants and fill each other's waits for results. A call computes
//! each function for all its items before the next function, so that the lines of the cache that the
//! items need next arrive meanwhile.

#![expect(unsafe_code, reason = "calls machine code")]

mod kernel;

use std::io::ErrorKind;

use crate::cpu::Cpu;
use crate::jit::aarch64::assembler::Assembler;
use crate::jit::code_memory::FixedCode;
use crate::jit::{CodePages, JitError};
use crate::memory::Line;
use crate::params::{CACHE_ACCESSES, CACHE_SIZE};
use crate::superscalar::{Item, Program};

#[cfg(test)]
pub(super) use kernel::emit;

/// The most bytes of code for both kernels.
const CAPACITY: usize = 1 << 18;

/// The most items that one call of a kernel computes. More are no faster, and the lines of many
/// items would displace each other.
const MAX_BATCH: usize = 24;

/// A kernel. Its arguments are the cache, the item numbers, the items to write, and the number of
/// groups, which is not 0.
type Kernel = unsafe extern "C" fn(*const Line, *const u32, *mut Item, usize);

/// The functions of a key in machine code.
#[derive(Debug)]
pub struct SuperscalarCode {
    code: FixedCode,
    /// Where the kernel for one item at a time begins.
    single: usize,
    /// Where the kernel for two items at a time begins.
    pair: usize,
}

impl SuperscalarCode {
    /// Compiles the functions of a key. They use no extension of `cpu`.
    ///
    /// # Errors
    ///
    /// [`JitError`] if the system refuses executable memory.
    pub fn new(
        programs: &[Program; CACHE_ACCESSES],
        _: Cpu,
        pages: CodePages,
    ) -> Result<SuperscalarCode, JitError> {
        let mut a =
            Assembler::try_new(CAPACITY).map_err(|_| JitError::Memory(ErrorKind::OutOfMemory))?;
        let [single, pair] = kernel::emit(&mut a, programs);
        let code = FixedCode::new(a.finish()?, pages)?;
        Ok(SuperscalarCode { code, single: single.offset(), pair: pair.offset() })
    }

    /// Does nothing: there is one way to compute any number of items.
    pub fn calibrate(&mut self, _: &[Line]) {}

    /// Computes the items `numbers` from the lines of a cache.
    ///
    /// # Panics
    ///
    /// If `numbers` and `items` differ in length, or `lines` is not as long as a cache.
    pub fn compute(&self, lines: &[Line], numbers: &[u32], items: &mut [Item]) {
        assert_eq!(numbers.len(), items.len(), "one item per number");
        for (numbers, items) in numbers.chunks(MAX_BATCH).zip(items.chunks_mut(MAX_BATCH)) {
            let even = numbers.len() & !1;
            let (paired, last) = items.split_at_mut(even);
            self.call::<2>(self.pair, lines, &numbers[..even], paired);
            self.call::<1>(self.single, lines, &numbers[even..], last);
        }
    }

    /// Computes items with the kernel at `offset`, which takes `WIDTH` items at a time.
    fn call<const WIDTH: usize>(
        &self,
        offset: usize,
        lines: &[Line],
        numbers: &[u32],
        items: &mut [Item],
    ) {
        assert_eq!(size_of_val(lines), CACHE_SIZE, "the lines of a cache");
        assert!(numbers.len() == items.len() && numbers.len().is_multiple_of(WIDTH));
        if numbers.is_empty() {
            return;
        }
        // SAFETY: `kernel::emit` put a function of this type at this offset of the code, which lives
        // as long as `self`, is never written again, and is the same in forks.
        let kernel: Kernel = unsafe { std::mem::transmute(self.code.entry().wrapping_add(offset)) };
        // SAFETY: the kernel reads `WIDTH` numbers and writes `WIDTH` items for each group, and reads
        // lines of the cache by masked indexes. The lengths were checked above.
        unsafe {
            kernel(lines.as_ptr(), numbers.as_ptr(), items.as_mut_ptr(), numbers.len() / WIDTH);
        }
    }
}
