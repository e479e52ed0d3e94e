//! BlakeGenerator (specification 3.5): the random numbers that generate SuperscalarHash programs.

use crate::blake2b::{Blake2b, Words};
use crate::params::GENERATOR_KEY_SIZE;

const STATE_SIZE: usize = 64;

/// A random number generator that repeats Hash512.
#[derive(Clone, Debug)]
pub struct BlakeGenerator {
    blake2b: Blake2b,
    state: Words,
    /// The bytes of the state, padded so that 4 bytes can be read anywhere.
    bytes: [u8; STATE_SIZE + 4],
    used: usize,
}

impl BlakeGenerator {
    /// Seeds the generator with the first 60 bytes of `key`, zero padded.
    #[cfg(feature = "internals")]
    pub fn new(key: &[u8]) -> BlakeGenerator {
        BlakeGenerator::with_blake2b(key, Blake2b::default())
    }

    /// Seeds the generator and chooses its Blake2b, which does not change the numbers.
    pub fn with_blake2b(key: &[u8], blake2b: Blake2b) -> BlakeGenerator {
        let mut seed = [0; STATE_SIZE];
        let length = key.len().min(GENERATOR_KEY_SIZE);
        seed[..length].copy_from_slice(&key[..length]);
        let words = seed.as_chunks().0;
        let state = std::array::from_fn(|i| u64::from_le_bytes(words[i]));
        BlakeGenerator { blake2b, state, bytes: [0; STATE_SIZE + 4], used: STATE_SIZE }
    }

    /// Returns the next byte.
    #[inline]
    pub fn byte(&mut self) -> u8 {
        self.draw(1) as u8
    }

    /// Returns the next 4 bytes, little-endian. Fewer than 4 bytes at the end of a state are
    /// skipped.
    #[cfg(feature = "internals")]
    #[inline]
    pub fn word(&mut self) -> u32 {
        self.draw(4)
    }

    /// Returns the next `count` bytes, at most 4, little-endian.
    ///
    /// `count` is itself random, so that a branch on it would be mispredicted. The only branch is
    /// for the end of the state.
    #[inline]
    pub(crate) fn draw(&mut self, count: usize) -> u32 {
        if self.used + count > STATE_SIZE {
            self.refill();
        }
        let mut bytes = [0; 4];
        bytes.copy_from_slice(&self.bytes[self.used..self.used + 4]);
        self.used += count;
        let mask = (1u64 << (8 * count)) - 1;
        u32::from_le_bytes(bytes) & mask as u32
    }

    #[cold]
    fn refill(&mut self) {
        self.blake2b.rehash(&mut self.state);
        let bytes: [u8; STATE_SIZE] = bytemuck::must_cast(self.state.map(u64::to_le_bytes));
        self.bytes[..STATE_SIZE].copy_from_slice(&bytes);
        self.used = 0;
    }
}
