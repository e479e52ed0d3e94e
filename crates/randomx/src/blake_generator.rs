//! BlakeGenerator (specification 3.5): the random numbers that shape SuperscalarHash.

use crate::blake2b::{Blake2b, Words};
use crate::params::GENERATOR_KEY_SIZE;

/// A stream of bytes and words from repeated Hash512.
#[derive(Clone, Debug)]
pub struct BlakeGenerator {
    blake2b: Blake2b,
    state: Words,
    bytes: [u8; 64],
    used: usize,
}

impl BlakeGenerator {
    /// Seeds the generator with the first 60 bytes of `key`, zero padded.
    pub fn new(key: &[u8]) -> BlakeGenerator {
        BlakeGenerator::with_blake2b(key, Blake2b::default())
    }

    /// The same with an implementation of Blake2b, on which the numbers do not depend.
    pub fn with_blake2b(key: &[u8], blake2b: Blake2b) -> BlakeGenerator {
        let mut bytes = [0; 64];
        let length = key.len().min(GENERATOR_KEY_SIZE);
        bytes[..length].copy_from_slice(&key[..length]);
        let words = bytes.as_chunks().0;
        let state = std::array::from_fn(|i| u64::from_le_bytes(words[i]));
        BlakeGenerator { blake2b, state, bytes, used: bytes.len() }
    }

    /// The next byte.
    #[inline]
    pub fn byte(&mut self) -> u8 {
        self.take::<1>()[0]
    }

    /// The next 4 bytes, little-endian. Bytes left over in a state that is too short are lost.
    #[inline]
    pub fn word(&mut self) -> u32 {
        u32::from_le_bytes(self.take())
    }

    #[inline]
    fn take<const N: usize>(&mut self) -> [u8; N] {
        if self.used + N > self.bytes.len() {
            self.refill();
        }
        let mut bytes = [0; N];
        bytes.copy_from_slice(&self.bytes[self.used..self.used + N]);
        self.used += N;
        bytes
    }

    #[cold]
    fn refill(&mut self) {
        self.blake2b.rehash(&mut self.state);
        self.bytes = bytemuck::must_cast(self.state.map(u64::to_le_bytes));
        self.used = 0;
    }
}
