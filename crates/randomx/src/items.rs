//! Dataset items (specification 7.3), computed from the cache in batches.

use std::fmt;
use std::sync::Arc;

use crate::cache::Cache;
use crate::cpu::Cpu;
use crate::memory::Line;
use crate::superscalar::{Item, Lanes, Width};

/// Knuth's multiplier, which spreads item numbers over `r0`.
const MULTIPLIER: u64 = 6_364_136_223_846_793_005;

/// What `r0` is XORed with to start each register.
const REGISTER_CONSTANTS: [u64; 8] = [
    0,
    9_298_411_001_130_361_340,
    12_065_312_585_734_608_966,
    9_306_329_213_124_626_780,
    5_281_919_268_842_080_866,
    10_536_153_434_571_861_004,
    3_398_623_926_847_679_864,
    9_549_104_520_008_361_294,
];

/// Computes the dataset items of a key from its cache.
pub struct Items {
    cache: Arc<Cache>,
    width: Width,
}

impl Items {
    /// Items of `cache`'s key, computed with what `cpu` has.
    pub fn new(cache: Arc<Cache>, cpu: Cpu) -> Items {
        Items { cache, width: Width::new(cpu) }
    }

    /// Computes the items `numbers` into `items`, a slice of the same length.
    ///
    /// A number is from 0 to 34,078,718; larger ones, which no program asks for, have items too.
    /// Items are independent, and computing several together is much cheaper than one by one:
    /// their cache reads overlap and their arithmetic shares instructions.
    ///
    /// # Panics
    ///
    /// When the two slices differ in length.
    pub fn compute(&self, numbers: &[u32], items: &mut [Item]) {
        assert_eq!(numbers.len(), items.len(), "one item per number");
        let mut done = 0;
        while done < numbers.len() {
            let (numbers, items) = (&numbers[done..], &mut items[done..]);
            done += match numbers.len() {
                1 => self.batch::<1>(numbers, items),
                2 => self.batch::<2>(numbers, items),
                3 | 4 => self.batch::<4>(numbers, items),
                5..=8 => self.batch::<8>(numbers, items),
                _ => self.batch::<16>(numbers, items),
            };
        }
    }

    /// Computes the first `N` items, or all if there are fewer, in `N` lanes; returns how many.
    fn batch<const N: usize>(&self, numbers: &[u32], items: &mut [Item]) -> usize {
        let count = numbers.len().min(N);
        // Lanes without an item of their own repeat the last one.
        let padded = std::array::from_fn(|lane| numbers[lane.min(count - 1)]);
        items[..count].copy_from_slice(&self.lanes::<N>(padded)[..count]);
        count
    }

    fn lanes<const N: usize>(&self, numbers: [u32; N]) -> [Item; N] {
        let lines = self.cache.lines();
        // The number of lines is a power of two.
        let line = |index: u64| -> Line { lines[index as usize & (lines.len() - 1)] };

        let r0 = numbers.map(|number| (u64::from(number) + 1).wrapping_mul(MULTIPLIER));
        let mut r: Lanes<N> = REGISTER_CONSTANTS.map(|constant| r0.map(|r0| r0 ^ constant));
        let mut cache_index = numbers.map(u64::from);
        for function in self.cache.functions() {
            // All lanes read first: the misses overlap each other and the arithmetic.
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

impl fmt::Debug for Items {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Items").field("width", &self.width).finish_non_exhaustive()
    }
}
