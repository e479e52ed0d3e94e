//! SuperscalarHash (specification 6 and 7.3) as machine code, for the functions of one key.
//!
//! The functions of a key are compiled once, in several kernels: one computes item after item in
//! general purpose registers, the others 4 to 24 items at once in vectors. Measurements decided which
//! kernel computes how many items. The table gives milliseconds for the 16,384 items of a hash, on
//! an Intel server processor with AVX-512, the best of many short runs.
//!
//! | items at a time | 1    | 2    | 3   | 4   | 8   | 16  | 24  |
//! | --------------- | ---- | ---- | --- | --- | --- | --- | --- |
//! | scalar          | 18.5 | 11.1 | 8.6 | 7.7 | 7.2 | 7.1 |     |
//! | AVX2            |      |      |     | 7.5 | 6.6 | 6.6 |     |
//! | AVX-512, 2 wide |      | 12.0 |     |     |     |     |     |
//! | AVX-512, 4 wide |      |      |     | 6.6 |     |     |     |
//! | AVX-512, 8 wide |      |      |     |     | 3.4 | 2.9 | 2.9 |
//!
//! One item alone waits for memory most of the time. Two in vectors save little of that time and
//! cost longer products: 15 cycles instead of 3 here, but 3 on other processors. So there are two
//! kernels for two items, and [`SuperscalarCode::calibrate`] measures which is faster.

#![expect(unsafe_code, reason = "calls machine code")]

mod arithmetic;
mod kernel;
mod lanes;
mod scalar;
#[cfg(test)]
mod tests;
mod vector;

use std::io::ErrorKind;
use std::time::Instant;

use crate::cpu::{Cpu, Extension};
use crate::jit::code_memory::FixedCode;
use crate::jit::x86_64::assembler::{Assembler, AssemblerError, Position, Xmm, Ymm, Zmm};
use crate::jit::{CodePages, JitError};
use crate::memory::Line;
use crate::params::{CACHE_ACCESSES, CACHE_SIZE};
use crate::superscalar::{Item, Program};

use arithmetic::Set;
use kernel::Pool;
use lanes::Lanes;
use vector::TURNS;

/// The most bytes of code for all kernels. Those of the widest vectors take some 20 bytes for each
/// operation and group.
const CAPACITY: usize = 1 << 20;

/// The most items that one call of a kernel computes.
const MAX_BATCH: usize = 24;

/// The most items that one call of the scalar kernel computes.
const MAX_SCALAR: usize = 16;

/// A kernel. Its arguments are the cache, the item numbers, the items to write, and
/// [`Batch::argument`].
type Kernel = unsafe extern "sysv64" fn(*const Line, *const u32, *mut Item, usize);

/// The functions of a key in machine code.
#[derive(Debug)]
pub struct SuperscalarCode {
    code: FixedCode,
    /// In order of items. Those of the scalar kernel leave no gap.
    batches: Vec<Batch>,
    /// The other kernel for two items.
    pair: Option<Batch>,
}

/// A kernel call that computes a number of items.
#[derive(Clone, Copy, Debug)]
struct Batch {
    /// The number of item numbers read and of items written.
    items: usize,
    /// The offset of the kernel in the code.
    offset: usize,
    /// The kernel's last argument.
    argument: usize,
}

impl SuperscalarCode {
    /// Compiles the functions of a key for `cpu`.
    ///
    /// # Errors
    ///
    /// [`JitError`] if the system refuses executable memory.
    pub fn new(
        programs: &[Program; CACHE_ACCESSES],
        cpu: Cpu,
        pages: CodePages,
    ) -> Result<SuperscalarCode, JitError> {
        let mut a =
            Assembler::try_new(CAPACITY).map_err(|_| JitError::Memory(ErrorKind::OutOfMemory))?;
        let (batches, pair) = emit(&mut a, programs, cpu);
        let code = a.finish().map_err(|error| match error {
            AssemblerError::Full | AssemblerError::Unbound => JitError::TooLong,
        })?;
        Ok(SuperscalarCode { code: FixedCode::new(code, pages)?, batches, pair })
    }

    /// Measures both kernels for two items, if there are two, and uses the faster one from now on.
    /// This takes some tenths of a millisecond.
    ///
    /// # Panics
    ///
    /// If `lines` is not as long as a cache.
    pub fn calibrate(&mut self, lines: &[Line]) {
        const ROUNDS: u32 = 5;
        const CALLS: u32 = 24;
        let Some(pair) = self.pair else { return };
        let usual = self.batch(2);
        let time = |batch: Batch, round: u32| {
            let start = Instant::now();
            let mut items = [[0; 8]; 2];
            for call in 0..CALLS {
                // Numbers far from each other, as in programs.
                let number = (round * CALLS + call).wrapping_mul(0x9e37_79b1) >> 7;
                self.call(batch, lines, &[number, !number >> 7], &mut items);
            }
            std::hint::black_box(items);
            start.elapsed()
        };
        // Interruptions only add to times, so the minima are compared.
        let times = |batch| move |round| time(batch, round);
        let faster = (0..ROUNDS).map(times(pair)).min() < (0..ROUNDS).map(times(usual)).min();
        if faster {
            self.swap_pairs();
        }
    }

    /// Uses the other kernel for two items from now on, if there is one.
    pub(crate) fn swap_pairs(&mut self) {
        let place = self.batches.iter_mut().find(|batch| batch.items == 2);
        if let (Some(pair), Some(batch)) = (&mut self.pair, place) {
            std::mem::swap(pair, batch);
        }
    }

    /// Computes the items `numbers` from the lines of a cache.
    ///
    /// # Panics
    ///
    /// If `numbers` and `items` differ in length, or `lines` is not as long as a cache.
    pub fn compute(&self, lines: &[Line], numbers: &[u32], items: &mut [Item]) {
        assert_eq!(numbers.len(), items.len(), "one item per number");
        let (mut numbers, mut items) = (numbers, items);
        while !numbers.is_empty() {
            let batch = self.batch(numbers.len());
            let count = batch.items.min(numbers.len());
            let (now, later) = numbers.split_at(count);
            let (out, rest) = items.split_at_mut(count);
            if count == batch.items {
                self.call(batch, lines, now, out);
            } else {
                self.call_padded(batch, lines, now, out);
            }
            (numbers, items) = (later, rest);
        }
    }

    /// Returns the smallest batch of at least `items`, or else the largest batch.
    fn batch(&self, items: usize) -> Batch {
        let large = self.batches.iter().find(|batch| batch.items >= items);
        large.copied().unwrap_or(self.batches[self.batches.len() - 1])
    }

    /// Computes fewer items than the batch has, by repeating the last one.
    fn call_padded(&self, batch: Batch, lines: &[Line], numbers: &[u32], items: &mut [Item]) {
        let last = numbers.len() - 1;
        let padded: [u32; MAX_BATCH] = std::array::from_fn(|index| numbers[index.min(last)]);
        let mut computed = [Line([0; 8]); MAX_BATCH];
        let computed = bytemuck::cast_slice_mut(&mut computed);
        self.call(batch, lines, &padded[..batch.items], &mut computed[..batch.items]);
        items.copy_from_slice(&computed[..items.len()]);
    }

    fn call(&self, batch: Batch, lines: &[Line], numbers: &[u32], items: &mut [Item]) {
        assert_eq!(size_of_val(lines), CACHE_SIZE, "the lines of a cache");
        assert!(numbers.len() == batch.items && items.len() == batch.items);
        let entry = self.code.entry().wrapping_add(batch.offset);
        // SAFETY: `emit` put a function of this type at this offset of the code, which lives as
        // long as `self`, is never written again, and is the same in forks.
        let kernel: Kernel = unsafe { std::mem::transmute(entry) };
        // SAFETY: `Cpu` has detected the instructions of the kernel. It reads `batch.items` numbers,
        // and lines of the cache by masked indexes, and writes `batch.items` items. The lengths were
        // checked above.
        unsafe {
            kernel(lines.as_ptr(), numbers.as_ptr(), items.as_mut_ptr(), batch.argument);
        }
    }
}

/// Emits the kernels that are fastest on `cpu`. Returns their batches, in order of items, and another
/// one for two items.
fn emit(a: &mut Assembler, programs: &[Program; 8], cpu: Cpu) -> (Vec<Batch>, Option<Batch>) {
    let mut pool = Pool::new(a);
    let mut batches = Vec::new();
    let mut pair = None;

    let scalar = begin(a);
    scalar::emit(a, &mut pool, programs);
    let vectors = cpu.has(Extension::Avx2);
    let most = if vectors { Ymm::LANES - 1 } else { MAX_SCALAR };
    batches.extend((1..=most).map(|items| Batch::new(items, scalar, items)));

    if cpu.has(Extension::Avx512) {
        let ifma = cpu.has(Extension::Ifma);
        let set = if ifma { Set::Avx512Ifma } else { Set::Avx512 };
        let start = begin(a);
        vector::emit_side_by_side::<Xmm>(a, &mut pool, programs, set, 1);
        pair = Some(Batch::new(Xmm::LANES, start, 0));
        let start = begin(a);
        vector::emit_side_by_side::<Ymm>(a, &mut pool, programs, set, 1);
        batches.push(Batch::new(Ymm::LANES, start, 0));
        for groups in 1..=MAX_BATCH / Zmm::LANES {
            let start = begin(a);
            vector::emit_side_by_side::<Zmm>(a, &mut pool, programs, set, groups);
            batches.push(Batch::new(groups * Zmm::LANES, start, 0));
        }
    } else if vectors {
        let start = begin(a);
        vector::emit_in_turn::<Ymm>(a, &mut pool, programs, Set::Avx2);
        batches.extend((1..=TURNS).map(|turns| Batch::new(turns * Ymm::LANES, start, turns)));
    }
    pool.emit(a);
    (batches, pair)
}

fn begin(a: &mut Assembler) -> Position {
    a.align(size_of::<Line>());
    a.position()
}

impl Batch {
    fn new(items: usize, start: Position, argument: usize) -> Batch {
        Batch { items, offset: start.offset(), argument }
    }
}
