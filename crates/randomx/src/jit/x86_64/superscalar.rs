//! SuperscalarHash (specification 6 and 7.3) as machine code, for the functions of one key.
//!
//! The functions of a key are compiled once, in several kernels. One computes item after item in general purpose
//! registers. Others compute 2 to 24 items at once in vectors. The rest compute some items in vectors, and others in
//! general purpose registers meanwhile. The table gives milliseconds for the 16,384 items of a hash, on an Intel server
//! processor with AVX-512, the best of many short runs. Its row AVX2 is of earlier code.
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
//! cost longer products: 15 cycles instead of 3 here, but 3 on other processors. Without AVX-512, the order
//! of vectors, general purpose registers and both at once depends on the processor and the number of items.
//! A vector of four that computes one of three items twice can be faster than general purpose registers.
//! So there are several plans, which assign items to kernels, and
//! [`SuperscalarCode::calibrate`] measures which one is fastest in batches of some sizes.

#![expect(unsafe_code, reason = "calls machine code")]

mod arithmetic;
mod kernel;
mod lanes;
mod mixed;
mod scalar;
#[cfg(test)]
mod tests;
mod vector;

use std::io::ErrorKind;
use std::ops::RangeFrom;
use std::time::Instant;

use crate::cpu::{Cpu, Extension};
use crate::jit::code_memory::FixedCode;
use crate::jit::x86_64::assembler::{Assembler, Position, Xmm, Ymm, Zmm};
use crate::jit::{CodePages, JitError};
use crate::memory::Line;
use crate::params::{CACHE_ACCESSES, CACHE_SIZE, DATASET_BATCH, MAX_LANES, Version};
use crate::superscalar::{Item, Program};
use crate::turns::fastest;

use arithmetic::Set;
use kernel::Pool;
use lanes::Lanes;
use vector::TURNS;

/// The most bytes of code for all kernels. Those of the widest vectors take some 20 bytes for each
/// operation and group.
const CAPACITY: usize = 1 << 20;

/// The items that one lane of a VM needs at once in v2.
const V2_LANE: usize = Version::V2.known_items();

/// The items that all lanes of a VM need at once, in v1 and in v2. Larger batches belong to datasets.
const V1_LANES: usize = MAX_LANES * Version::V1.known_items();
const V2_LANES: usize = MAX_LANES * Version::V2.known_items();

/// The most items that one call of a kernel computes. A trial has as many.
const MANY: usize = DATASET_BATCH;

/// The trials of each plan.
const ROUNDS: usize = 5;

/// The most groups of 8 items that are computed side by side.
const GROUPS: usize = V2_LANES / Zmm::LANES;

/// The most items that one call of the scalar kernel computes.
const MAX_SCALAR: usize = 16;

/// A kernel. Its arguments are the cache, the item numbers, the items to write, and
/// [`Batch::argument`].
type Kernel = unsafe extern "sysv64" fn(*const Line, *const u32, *mut Item, usize);

/// The functions of a key in machine code.
#[derive(Debug)]
pub struct SuperscalarCode {
    code: FixedCode,
    /// One for each range of numbers of items, in order.
    choices: Vec<Choice>,
}

/// Plans that only a measurement can choose from.
#[derive(Debug)]
struct Choice {
    /// The most items that they are for, and the batch that a trial computes.
    most: usize,
    /// The expected one comes first.
    plans: Vec<Plan>,
    /// The index of the plan in use.
    used: usize,
}

/// Kernel calls, in order of their numbers of items. Those of the scalar kernel leave no gap.
type Plan = Vec<Batch>;

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
        let choices = emit(&mut a, programs, cpu);
        Ok(SuperscalarCode { code: FixedCode::new(a.finish()?, pages)?, choices })
    }

    /// Measures all plans, where there are several, and uses the fastest ones from now on. This takes
    /// up to four milliseconds.
    ///
    /// # Panics
    ///
    /// If `lines` is not as long as a cache.
    pub fn calibrate(&mut self, lines: &[Line]) {
        let mut trials = 0..;
        for index in 0..self.choices.len() {
            self.choices[index].used = self.fastest(&self.choices[index], lines, &mut trials);
        }
    }

    /// Returns the index of the fastest plan. Takes the next numbers of trials.
    fn fastest(&self, choice: &Choice, lines: &[Line], trials: &mut RangeFrom<usize>) -> usize {
        let Choice { most, plans, .. } = choice;
        if plans.len() == 1 {
            return 0;
        }
        let mut items = [[0; 8]; MANY];
        fastest(plans.len(), ROUNDS, |plan| {
            let numbers = trial_numbers(trials.next().unwrap_or_default());
            let start = Instant::now();
            for (numbers, items) in numbers.chunks(*most).zip(items.chunks_mut(*most)) {
                self.compute_by(&plans[plan], lines, numbers, items);
            }
            std::hint::black_box(&items);
            start.elapsed()
        })
    }

    /// Uses the next plans from now on. Returns `false` once every plan has been used.
    #[cfg(test)]
    pub(crate) fn next_plans(&mut self) -> bool {
        let next = |Choice { plans, used, .. }: &mut Choice| {
            let is_left = *used + 1 < plans.len();
            *used += usize::from(is_left);
            is_left
        };
        self.choices.iter_mut().map(next).fold(false, |any, is_left| any | is_left)
    }

    /// Computes the items `numbers` from the lines of a cache.
    ///
    /// # Panics
    ///
    /// If `numbers` and `items` differ in length, or `lines` is not as long as a cache.
    pub fn compute(&self, lines: &[Line], numbers: &[u32], items: &mut [Item]) {
        assert_eq!(numbers.len(), items.len(), "one item per number");
        let Choice { plans, used, .. } = self.choice(numbers.len());
        self.compute_by(&plans[*used], lines, numbers, items);
    }

    /// Returns the choice for a number of items; the last one is also for more.
    fn choice(&self, items: usize) -> &Choice {
        let small = self.choices.iter().find(|choice| items <= choice.most);
        small.unwrap_or(&self.choices[self.choices.len() - 1])
    }

    fn compute_by(&self, plan: &Plan, lines: &[Line], numbers: &[u32], items: &mut [Item]) {
        let (mut numbers, mut items) = (numbers, items);
        while !numbers.is_empty() {
            let batch = batch(plan, numbers.len());
            let count = batch.items.min(numbers.len());
            let (now, later) = numbers.split_at(count);
            let (out, rest) = items.split_at_mut(count);
            if count == batch.items {
                self.call(batch, lines, now, out);
            } else if batch.items <= V2_LANES {
                self.call_padded::<V2_LANES>(batch, lines, now, out);
            } else {
                self.call_padded::<MANY>(batch, lines, now, out);
            }
            (numbers, items) = (later, rest);
        }
    }

    /// Computes fewer items than the batch has, which is `MOST` at most, by repeating the last one.
    fn call_padded<const MOST: usize>(
        &self,
        batch: Batch,
        lines: &[Line],
        numbers: &[u32],
        items: &mut [Item],
    ) {
        let last = numbers.len() - 1;
        let padded: [u32; MOST] = std::array::from_fn(|index| numbers[index.min(last)]);
        let mut computed = [Line([0; 8]); MOST];
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

/// Returns the numbers of a trial, far from each other as in programs. Each trial has its own: the lines of items that
/// another plan has computed are in the processor's caches, and would make the later plan look faster.
fn trial_numbers(trial: usize) -> [u32; MANY] {
    std::array::from_fn(|item| ((trial * MANY + item) as u32).wrapping_mul(0x9e37_79b1) >> 7)
}

/// Returns the smallest batch of at least `items`, or else the largest batch.
fn batch(plan: &Plan, items: usize) -> Batch {
    let large = plan.iter().find(|batch| batch.items >= items);
    large.copied().unwrap_or(plan[plan.len() - 1])
}

/// Emits the kernels that may be fastest on `cpu`. Returns the plans to choose from.
fn emit(a: &mut Assembler, programs: &[Program; 8], cpu: Cpu) -> Vec<Choice> {
    let mut pool = Pool::new(a);
    let scalar = begin(a);
    scalar::emit(a, &mut pool, programs);
    let scalars = |most| (1..=most).map(move |items| Batch::new(items, scalar, items));
    // A vector of 4 computes the last of 3 items twice.
    let one_lane = |vector| -> Vec<Plan> {
        let padded = scalars(V2_LANE - 1).chain([vector]).collect();
        vec![padded, scalars(V2_LANE).collect()]
    };

    let choices = if cpu.has(Extension::Avx512) {
        let ifma = cpu.has(Extension::Ifma);
        let set = if ifma { Set::Avx512Ifma } else { Set::Avx512 };
        let start = begin(a);
        vector::emit_side_by_side::<Xmm>(a, &mut pool, programs, set, 1);
        let pair = Batch::new(Xmm::LANES, start, 0);
        let start = begin(a);
        vector::emit_side_by_side::<Ymm>(a, &mut pool, programs, set, 1);
        let mut wide = vec![Batch::new(Ymm::LANES, start, 0)];
        for groups in 1..=GROUPS {
            let start = begin(a);
            vector::emit_side_by_side::<Zmm>(a, &mut pool, programs, set, groups);
            wide.push(Batch::new(groups * Zmm::LANES, start, 0));
        }
        let three = one_lane(wide[0]);
        let lanes: Plan = scalars(Ymm::LANES - 1).chain(wide).collect();
        // Larger batches are no faster, and their code takes more of the processor's caches.
        let many = lanes[..lanes.len() - 1].to_vec();
        let two = vec![scalars(2).collect(), scalars(1).chain([pair]).collect()];
        vec![
            Choice::new(Xmm::LANES, two),
            Choice::new(V2_LANE, three),
            Choice::new(V2_LANES, vec![lanes]),
            Choice::new(MANY, vec![many]),
        ]
    } else if cpu.has(Extension::Avx2) {
        let start = begin(a);
        vector::emit_in_turn(a, &mut pool, programs);
        let turns = 1..=TURNS;
        let vectors = turns.map(|turns| Batch::new(turns * Ymm::LANES, start, turns));
        let three = one_lane(Batch::new(Ymm::LANES, start, 1));
        let vectors: Plan = scalars(Ymm::LANES - 1).chain(vectors).collect();
        let [four, two] = mixed::SCALARS.map(|beside| -> Plan {
            let start = begin(a);
            mixed::emit(a, &mut pool, programs, beside);
            let items = mixed::items_per_turn(beside);
            let turns = 1..=mixed::turns(beside);
            let turns = turns.map(|turns| Batch::new(turns * items, start, turns));
            scalars(items - 1).chain(turns).collect()
        });
        let plans = vec![vectors, four, scalars(MAX_SCALAR).collect(), two];
        let many = [V1_LANES, V2_LANES, MANY].map(|most| Choice::new(most, plans.clone()));
        [Choice::new(V2_LANE, three)].into_iter().chain(many).collect()
    } else {
        vec![Choice::new(MAX_SCALAR, vec![scalars(MAX_SCALAR).collect()])]
    };
    pool.emit(a);
    choices
}

fn begin(a: &mut Assembler) -> Position {
    a.align(size_of::<Line>());
    a.position()
}

impl Choice {
    fn new(most: usize, plans: Vec<Plan>) -> Choice {
        Choice { most, plans, used: 0 }
    }
}

impl Batch {
    fn new(items: usize, start: Position, argument: usize) -> Batch {
        Batch { items, offset: start.offset(), argument }
    }
}
