//! BlakeGenerator (specification 3.5): the random numbers that shape SuperscalarHash.

use crate::blake2b::hash512;
use crate::params::GENERATOR_KEY_SIZE;

/// A stream of bytes and words from repeated Hash512.
#[derive(Clone, Debug)]
pub struct BlakeGenerator {
    state: [u8; 64],
    used: usize,
}

impl BlakeGenerator {
    /// Seeds the generator with the first 60 bytes of `key`, zero padded.
    pub fn new(key: &[u8]) -> BlakeGenerator {
        let mut state = [0; 64];
        let length = key.len().min(GENERATOR_KEY_SIZE);
        state[..length].copy_from_slice(&key[..length]);
        BlakeGenerator { state, used: state.len() }
    }

    /// The next byte.
    pub fn byte(&mut self) -> u8 {
        self.take::<1>()[0]
    }

    /// The next 4 bytes, little-endian. Bytes left over in a state that is too short are lost.
    pub fn word(&mut self) -> u32 {
        u32::from_le_bytes(self.take())
    }

    fn take<const N: usize>(&mut self) -> [u8; N] {
        if self.used + N > self.state.len() {
            self.state = hash512(&[&self.state]);
            self.used = 0;
        }
        let mut bytes = [0; N];
        bytes.copy_from_slice(&self.state[self.used..self.used + N]);
        self.used += N;
        bytes
    }
}
