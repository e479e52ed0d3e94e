//! A search for initial registers of items that have the same sensitive bits.

use randomx::superscalar::initial_registers;

use crate::{LabError, Progress, parallel};

/// Bits 3 to 53, to which SuperscalarHash is most sensitive.
pub(super) const SENSITIVE: u64 = ((1 << 54) - 1) & !0b111;

/// The values of selected bits of the initial registers of items.
pub(super) struct Uniqueness {
    /// The mask of selected bits.
    pub(super) bits: u64,
    /// The number of items, from the first.
    pub(super) items: u32,
}

/// The number of parts that values are divided into by their lowest selected bits. A thread sorts one part
/// at a time, which takes 140 MB for all items of the dataset.
const PARTS: u64 = 16;

impl Uniqueness {
    /// Counts the values that are equal to an earlier one.
    pub(super) fn collisions(
        &self,
        threads: usize,
        progress: &mut dyn Progress,
    ) -> Result<u64, LabError> {
        let sort = |values: &mut Vec<u64>, part: u64| {
            values.clear();
            self.collect(part, values)?;
            values.sort_unstable();
            let equal = values.windows(2).filter(|pair| pair[0] == pair[1]).count();
            Ok(equal as u64)
        };
        let parts = parallel::map("uniqueness", PARTS, threads, progress, || Ok(Vec::new()), sort)?;
        Ok(parts.into_iter().sum())
    }

    /// Collects the values of a part.
    fn collect(&self, part: u64, values: &mut Vec<u64>) -> Result<(), LabError> {
        let lowest = self.bits.trailing_zeros();
        // The expected number, and a margin for parts that have more.
        let expected = 8 * u64::from(self.items) / PARTS;
        let room = (expected + expected / 8 + 4096) as usize;
        let memory = values.try_reserve_exact(room);
        memory.map_err(|_| LabError::OutOfMemory { what: "registers", bytes: 8 * room })?;
        for item in 0..self.items {
            for register in initial_registers(item) {
                let value = register & self.bits;
                if value >> lowest & (PARTS - 1) == part {
                    values.push(value);
                }
            }
        }
        Ok(())
    }
}
