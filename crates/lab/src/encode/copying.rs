//! BLAKE2s with input in parts, which copies them into blocks, as a library does that cannot know what
//! follows.

use crate::blake2::{Blake2s, FIRST_STATE, Progress, State, digest};

pub(super) struct Copying {
    blake2s: Blake2s,
    state: State,
    block: [u8; 64],
    used: usize,
    /// Bytes already compressed.
    bytes: u64,
}

impl Copying {
    pub(super) fn new(blake2s: Blake2s) -> Copying {
        Copying { blake2s, state: FIRST_STATE, block: [0; 64], used: 0, bytes: 0 }
    }

    /// Adds `part` to the input. A full block is kept until more follows, because the last one is compressed
    /// differently.
    pub(super) fn update(&mut self, mut part: &[u8]) {
        while !part.is_empty() {
            if self.used == self.block.len() {
                self.compress(u64::MAX);
                self.used = 0;
            }
            let (now, rest) = part.split_at(part.len().min(self.block.len() - self.used));
            self.block[self.used..self.used + now.len()].copy_from_slice(now);
            self.used += now.len();
            part = rest;
        }
    }

    pub(super) fn finish(mut self) -> [u8; 32] {
        self.block[self.used..].fill(0);
        self.compress(self.bytes + self.used as u64);
        digest(self.state)
    }

    fn compress(&mut self, total: u64) {
        let progress = Progress { bytes: self.bytes, total };
        self.blake2s.blocks(&mut self.state, &[self.block], progress);
        self.bytes += self.block.len() as u64;
    }
}

#[cfg(test)]
mod tests {
    use randomx::cpu::Cpu;

    use super::*;

    #[test]
    fn parts_of_any_size_give_the_same_hash() {
        let input: Vec<u8> = (0..300u16).map(|byte| (byte * 7) as u8).collect();
        for blake2s in Blake2s::all(Cpu::detect()) {
            for length in 0..input.len() {
                let mut hasher = Copying::new(blake2s);
                input[..length].chunks(1 + length % 97).for_each(|part| hasher.update(part));
                assert_eq!(hasher.finish(), blake2s.hash(&input[..length]), "{length}, {blake2s}");
            }
        }
    }
}
