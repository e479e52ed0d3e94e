//! Items by interpreted functions, in lanes.

use crate::cpu::Cpu;
use crate::memory::Line;
use crate::params::CACHE_ACCESSES;
use crate::superscalar::{Function, ITEM_CONSTANTS, ITEM_MULTIPLIER, Item, Lanes, Program, Width};

/// The functions of a key, for the interpreter.
pub(super) struct Interpreted {
    functions: [Function; CACHE_ACCESSES],
    width: Width,
}

impl Interpreted {
    pub(super) fn new(programs: &[Program; CACHE_ACCESSES], cpu: Cpu) -> Interpreted {
        let functions = programs.each_ref().map(Function::from);
        Interpreted { functions, width: Width::new(cpu) }
    }

    /// Computes the items `numbers` into `items`, a slice of the same length.
    pub(super) fn compute(&self, lines: &[Line], numbers: &[u32], items: &mut [Item]) {
        let mut done = 0;
        while done < numbers.len() {
            let (numbers, items) = (&numbers[done..], &mut items[done..]);
            done += match numbers.len() {
                1 => self.batch::<1>(lines, numbers, items),
                2 => self.batch::<2>(lines, numbers, items),
                3 | 4 => self.batch::<4>(lines, numbers, items),
                5..=8 => self.batch::<8>(lines, numbers, items),
                _ => self.batch::<16>(lines, numbers, items),
            };
        }
    }

    /// Computes the first `N` items, or all if there are fewer, in `N` lanes. Returns their number.
    fn batch<const N: usize>(&self, lines: &[Line], numbers: &[u32], items: &mut [Item]) -> usize {
        let count = numbers.len().min(N);
        // The remaining lanes repeat the last item.
        let padded = std::array::from_fn(|lane| numbers[lane.min(count - 1)]);
        items[..count].copy_from_slice(&self.lanes::<N>(lines, padded)[..count]);
        count
    }

    fn lanes<const N: usize>(&self, lines: &[Line], numbers: [u32; N]) -> [Item; N] {
        // The number of lines is a power of two.
        let line = |index: u64| -> Line { lines[index as usize & (lines.len() - 1)] };

        let r0 = numbers.map(|number| (u64::from(number) + 1).wrapping_mul(ITEM_MULTIPLIER));
        let mut r: Lanes<N> = ITEM_CONSTANTS.map(|constant| r0.map(|r0| r0 ^ constant));
        let mut cache_index = numbers.map(u64::from);
        for function in &self.functions {
            // All lanes read first, so that cache misses overlap each other and the arithmetic.
            let mix = cache_index.map(line);
            function.execute(&mut r, self.width);
            for (q, register) in r.iter_mut().enumerate() {
                for (lane, value) in register.iter_mut().enumerate() {
                    *value ^= mix[lane].0[q];
                }
            }
            cache_index = r[function.address_register()];
        }
        std::array::from_fn(|lane| r.map(|register| register[lane]))
    }
}
