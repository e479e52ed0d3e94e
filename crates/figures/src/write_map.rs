//! The parts of the scratchpad that a hash overwrites (chapter 2.8.2).

use randomx::params::{SCRATCHPAD_L1, SCRATCHPAD_L2, SCRATCHPAD_L3};
use randomx::registers::RegisterFile;
use randomx::trace::Tracer;

/// Bytes that an instruction writes: one point of the map.
const WORD: usize = 8;
/// Points of the map.
const WORDS: usize = SCRATCHPAD_L3 / WORD;
/// Points of a line of 64 bytes.
const LINE: usize = 64 / WORD;

/// A map of one hash with a point for each 8 bytes of the scratchpad, set if the hash overwrites
/// them.
#[derive(Clone, Debug)]
pub struct WriteMap {
    bits: Vec<u64>,
}

/// Shares of the scratchpad that were overwritten, 0 to 1. The numbers in the documentation are
/// those of the design document.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WriteMapSummary {
    /// The first 16 KiB: nearly all.
    pub l1: f64,
    /// The first 256 KiB: nearly all.
    pub l2: f64,
    /// The other 1792 KiB: about 66%.
    pub rest: f64,
    /// The whole scratchpad.
    pub whole: f64,
}

impl WriteMap {
    /// The number of points of a map.
    pub const LEN: usize = WORDS;

    /// Returns whether the 8 bytes with this index were overwritten; false beyond the scratchpad.
    pub fn is_written(&self, index: usize) -> bool {
        self.bits.get(index / 64).is_some_and(|bits| bits >> (index % 64) & 1 != 0)
    }

    /// Returns all points, 64 to a word, lowest bit first.
    pub fn bits(&self) -> &[u64] {
        &self.bits
    }

    /// Returns the shares that were overwritten.
    pub fn summary(&self) -> WriteMapSummary {
        let part = |from: usize, to: usize| {
            let words = &self.bits[from / WORD / 64..to / WORD / 64];
            let written: u32 = words.iter().map(|bits| bits.count_ones()).sum();
            f64::from(written) / (words.len() * 64) as f64
        };
        WriteMapSummary {
            l1: part(0, SCRATCHPAD_L1),
            l2: part(0, SCRATCHPAD_L2),
            rest: part(SCRATCHPAD_L2, SCRATCHPAD_L3),
            whole: part(0, SCRATCHPAD_L3),
        }
    }

    fn mark(&mut self, address: u32, words: usize) {
        let first = address as usize % SCRATCHPAD_L3 / WORD;
        for index in first..first + words {
            self.bits[index / 64 % (WORDS / 64)] |= 1 << (index % 64);
        }
    }
}

impl Default for WriteMap {
    fn default() -> WriteMap {
        WriteMap { bits: vec![0; WORDS / 64] }
    }
}

impl Tracer for WriteMap {
    #[inline]
    fn iteration(&mut self, lines: [u32; 2], _: &RegisterFile) {
        for line in lines {
            self.mark(line, LINE);
        }
    }

    #[inline]
    fn write(&mut self, address: u32, _: u32) {
        self.mark(address, 1);
    }
}
