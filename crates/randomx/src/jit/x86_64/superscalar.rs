//! SuperscalarHash (specification 6 and 7.3) as machine code, for the functions of one key.
//!
//! A key has one set of functions, so they are compiled once, in several kernels: for one item
//! after the other in general purpose registers, and for 4 to 24 items at once in vectors. Which
//! kernel serves how many items was measured; the times below are of the 16,384 items of a hash,
//! in ms, on an Intel server processor with AVX-512, the best of many short stretches.
//!
//! | items at a time | 1    | 2    | 3   | 4   | 8   | 16  | 24  |
//! | --------------- | ---- | ---- | --- | --- | --- | --- | --- |
//! | scalar          | 18.5 | 11.1 | 8.6 | 7.7 | 7.2 | 7.1 |     |
//! | AVX2            |      |      |     | 7.5 | 6.6 | 6.6 |     |
//! | AVX-512, 2 wide |      | 12.0 |     |     |     |     |     |
//! | AVX-512, 4 wide |      |      |     | 6.6 |     |     |     |
//! | AVX-512, 8 wide |      |      |     |     | 3.4 | 2.9 | 2.9 |
//!
//! One item alone waits for memory most of the time. Two in vectors save little of that and pay
//! with longer products: 15 cycles instead of 3 here, 3 on others. So for two items both ways are
//! there, and which is faster is measured.

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
use crate::jit::x86_64::assembler::{Assembler, AssemblerError, Position, Xmm, Ymm, Zmm};
use crate::jit::x86_64::code_memory::CodeMemory;
use crate::jit::{CodePages, JitError};
use crate::memory::Line;
use crate::params::{CACHE_ACCESSES, CACHE_SIZE};
use crate::superscalar::{Item, Program};

use arithmetic::Set;
use kernel::Pool;
use lanes::Lanes;
use vector::TURNS;

/// Room for all kernels, of which those of the widest vectors have some 20 bytes an operation
/// and group.
const CAPACITY: usize = 1 << 20;

/// The most items that one call of any kernel computes.
const MAX_BATCH: usize = 24;

/// The most items that are computed one by one in a call.
const MAX_SCALAR: usize = 16;

/// How a kernel is called: the cache, the numbers of the items, where the items go, and a number
/// whose meaning differs.
type Kernel = unsafe extern "sysv64" fn(*const Line, *const u32, *mut Item, usize);

/// The functions of a key in machine code.
#[derive(Debug)]
pub struct SuperscalarCode {
    memory: CodeMemory,
    /// By number of items, none missing between 1 and the first of vectors.
    batches: Vec<Batch>,
    /// The other way to compute two.
    pair: Option<Batch>,
}

/// A way to compute some items in one call.
#[derive(Clone, Copy, Debug)]
struct Batch {
    /// How many items are read and written.
    items: usize,
    /// Where the code begins.
    offset: usize,
    /// The kernel's last argument.
    argument: usize,
}

impl SuperscalarCode {
    /// Compiles the functions of a key for `cpu`.
    ///
    /// # Errors
    ///
    /// [`JitError`] when the system gives no memory to execute.
    pub fn new(
        programs: &[Program; CACHE_ACCESSES],
        cpu: Cpu,
        pages: CodePages,
    ) -> Result<SuperscalarCode, JitError> {
        let mut a =
            Assembler::with_room(CAPACITY).map_err(|_| JitError::Memory(ErrorKind::OutOfMemory))?;
        let (batches, pair) = emit(&mut a, programs, cpu);
        let code = a.finish().map_err(|error| match error {
            AssemblerError::Full | AssemblerError::Unbound => JitError::TooLong,
        })?;
        let mut memory = CodeMemory::new(code.len(), pages)?;
        memory.write(code)?;
        Ok(SuperscalarCode { memory, batches, pair })
    }

    /// Measures both ways to compute two items, where there are two, and keeps to the faster one.
    /// It takes some tenths of a millisecond.
    ///
    /// # Panics
    ///
    /// When `lines` are not those of a cache.
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
        // Interruptions only add to times, so the least of each is compared.
        let times = |batch| move |round| time(batch, round);
        let faster = (0..ROUNDS).map(times(pair)).min() < (0..ROUNDS).map(times(usual)).min();
        if faster {
            self.swap_pairs();
        }
    }

    /// Computes two items in the other way from now on, where there is one.
    pub(crate) fn swap_pairs(&mut self) {
        let place = self.batches.iter_mut().find(|batch| batch.items == 2);
        if let (Some(pair), Some(batch)) = (&mut self.pair, place) {
            std::mem::swap(pair, batch);
        }
    }

    /// Computes the items `numbers` into `items`, a slice of the same length, from a cache.
    ///
    /// # Panics
    ///
    /// When the two slices differ in length, or `lines` are not those of a cache.
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

    /// The smallest batch for so many items, or else the largest.
    fn batch(&self, items: usize) -> Batch {
        let large = self.batches.iter().find(|batch| batch.items >= items);
        large.copied().unwrap_or(self.batches[self.batches.len() - 1])
    }

    /// Computes fewer items than the kernel does: the last one several times.
    fn call_padded(&self, batch: Batch, lines: &[Line], numbers: &[u32], items: &mut [Item]) {
        let last = numbers.len() - 1;
        let padded: [u32; MAX_BATCH] = std::array::from_fn(|index| numbers[index.min(last)]);
        let mut room = [Line([0; 8]); MAX_BATCH];
        let room = bytemuck::cast_slice_mut(&mut room);
        self.call(batch, lines, &padded[..batch.items], &mut room[..batch.items]);
        items.copy_from_slice(&room[..items.len()]);
    }

    fn call(&self, batch: Batch, lines: &[Line], numbers: &[u32], items: &mut [Item]) {
        assert_eq!(size_of_val(lines), CACHE_SIZE, "the lines of a cache");
        assert!(numbers.len() == batch.items && items.len() == batch.items);
        let Ok(code) = self.memory.entry() else {
            unreachable!("the code was written when this was made, and never since");
        };
        let entry = code.wrapping_add(batch.offset);
        // SAFETY: `emit` put a function of this type at this offset of the code, which lives as
        // long as `self` and is never written again.
        let kernel: Kernel = unsafe { std::mem::transmute(entry) };
        // SAFETY: the kernel needs the instructions that `Cpu` has proven. It reads `batch.items`
        // numbers and lines of the cache by indexes that are less than there are, and writes
        // `batch.items` items; the lengths were tested above.
        unsafe {
            kernel(lines.as_ptr(), numbers.as_ptr(), items.as_mut_ptr(), batch.argument);
        }
    }
}

/// Emits the kernels that are best for `cpu`. Returns the ways to call them, by number of items,
/// and another way to compute two.
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
