//! BLAKE2s (RFC 7693) with digests of 32 bytes, and the experiment that compares it with other hash
//! functions. Each submodule compresses with one instruction set. The length of a compression's chain
//! of dependent operations limits its speed.

mod contestants;
mod experiment;
mod portable;
#[cfg(target_arch = "x86_64")]
mod rows;
#[cfg(target_arch = "x86_64")]
mod x86_avx2;
#[cfg(target_arch = "x86_64")]
mod x86_avx2_late;
#[cfg(target_arch = "x86_64")]
mod x86_avx512;

use std::fmt;

use randomx::cpu::Cpu;
#[cfg(target_arch = "x86_64")]
use randomx::cpu::Extension;

pub use experiment::HashFunctions;

/// An implementation of BLAKE2s that this processor runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blake2s(Vectors);

/// The instruction set; only [`Blake2s::all`] wraps one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Vectors {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2Late,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

/// The state of a hash.
pub type State = [u32; 8];

/// Half of a block.
pub type Half = [u8; 32];

/// The initial state of an unkeyed hash with a digest of 32 bytes.
pub const FIRST_STATE: State = {
    let mut state = IV;
    state[0] ^= 0x0101_0000 ^ 32;
    state
};

const BLOCK_SIZE: usize = 64;

/// Input bytes whose chain of operations is measured alone.
const CHAINED_BYTES: usize = 64 * BLOCK_SIZE;

/// Steps of four quarter rounds: ten rounds a block, two steps a round.
#[cfg(target_arch = "x86_64")]
const CHAIN: usize = 20 * CHAINED_BYTES / BLOCK_SIZE;

/// The same as SHA-256's (RFC 7693, 2.6).
const IV: State = crate::sha256::FIRST_STATE;

impl Blake2s {
    /// Returns the fastest implementation for `cpu`.
    pub fn new(cpu: Cpu) -> Blake2s {
        Blake2s::all(cpu).last().copied().unwrap_or(Blake2s(Vectors::Portable))
    }

    /// Returns all implementations for `cpu`, from the slowest to the fastest.
    pub fn all(cpu: Cpu) -> Vec<Blake2s> {
        let mut all = vec![Vectors::Portable];
        #[cfg(target_arch = "x86_64")]
        {
            all.extend(
                cpu.has(Extension::Avx2)
                    .then_some([Vectors::Avx2Late, Vectors::Avx2])
                    .iter()
                    .flatten(),
            );
            all.extend(cpu.has(Extension::Avx512).then_some(Vectors::Avx512));
        }
        let _ = cpu;
        all.into_iter().map(Blake2s).collect()
    }

    /// Returns the digest of `input`.
    pub fn hash(self, input: &[u8]) -> [u8; 32] {
        let mut state = FIRST_STATE;
        let total = input.len() as u64;
        // The last block is empty only if the input is.
        let (bulk, rest) = input.split_at(input.len().saturating_sub(1) / BLOCK_SIZE * BLOCK_SIZE);
        let mut last = [0; BLOCK_SIZE];
        last[..rest.len()].copy_from_slice(rest);
        self.blocks(&mut state, bulk.as_chunks().0, Progress { bytes: 0, total });
        self.blocks(&mut state, &[last], Progress { bytes: bulk.len() as u64, total });
        digest(state)
    }

    /// Returns the digest of half blocks, each read where it is instead of copied into a block.
    pub fn hash_halves<const PAIRS: usize>(self, halves: &[[&Half; 2]; PAIRS]) -> [u8; 32] {
        let mut state = FIRST_STATE;
        let progress = Progress { bytes: 0, total: (PAIRS * BLOCK_SIZE) as u64 };
        self.pairs(&mut state, halves, progress);
        digest(state)
    }

    /// Compresses blocks of an input of `progress.total` bytes.
    #[allow(unsafe_code, reason = "calls code for detected instructions")]
    pub fn blocks(self, state: &mut State, blocks: &[[u8; 64]], progress: Progress) {
        match self.0 {
            Vectors::Portable => portable::blocks(state, blocks, progress),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Avx2Late` is only wrapped if `Cpu` has AVX2.
            Vectors::Avx2Late => unsafe { x86_avx2_late::blocks(state, blocks, progress) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Avx2` is only wrapped if `Cpu` has AVX2.
            Vectors::Avx2 => unsafe { x86_avx2::blocks(state, blocks, progress) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Avx512` is only wrapped if `Cpu` has AVX-512 F and VL.
            Vectors::Avx512 => unsafe { x86_avx512::blocks(state, blocks, progress) },
        }
    }

    /// Returns functions that execute the dependent operations for [`CHAINED_BYTES`], without and with the
    /// independent ones; `None` without vectors.
    #[allow(unsafe_code, reason = "calls code for detected instructions")]
    fn chains(self) -> Option<[fn(); 2]> {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Avx2` is only wrapped if `Cpu` has AVX2.
            Vectors::Avx2 => Some([
                || unsafe { x86_avx2::chain::<false>() },
                || unsafe { x86_avx2::chain::<true>() },
            ]),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Avx512` is only wrapped if `Cpu` has AVX-512 F and VL.
            Vectors::Avx512 => Some([
                || unsafe { x86_avx512::chain::<false>() },
                || unsafe { x86_avx512::chain::<true>() },
            ]),
            _ => None,
        }
    }

    #[allow(unsafe_code, reason = "calls code for detected instructions")]
    fn pairs(self, state: &mut State, pairs: &[[&Half; 2]], progress: Progress) {
        match self.0 {
            Vectors::Portable => portable::pairs(state, pairs, progress),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as in `blocks`.
            Vectors::Avx2Late => unsafe { x86_avx2_late::pairs(state, pairs, progress) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as in `blocks`.
            Vectors::Avx2 => unsafe { x86_avx2::pairs(state, pairs, progress) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as in `blocks`.
            Vectors::Avx512 => unsafe { x86_avx512::pairs(state, pairs, progress) },
        }
    }
}

impl fmt::Display for Blake2s {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Vectors::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Vectors::Avx2Late => "avx2, rotating the row computed last",
            #[cfg(target_arch = "x86_64")]
            Vectors::Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            Vectors::Avx512 => "avx512vl",
        })
    }
}

/// The progress of a hash.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Bytes already compressed.
    pub bytes: u64,
    /// Bytes of the whole input, or a larger number while it is unknown. The block that reaches this
    /// number is the last.
    pub total: u64,
}

impl Progress {
    /// Counts another block and returns words 12 to 15 of its working vector.
    #[inline(always)]
    fn last_row(&mut self) -> [u32; 4] {
        self.bytes = (self.bytes + BLOCK_SIZE as u64).min(self.total);
        let flag = if self.bytes == self.total { u32::MAX } else { 0 };
        let (low, high) = (self.bytes as u32, (self.bytes >> 32) as u32);
        [IV[4] ^ low, IV[5] ^ high, IV[6] ^ flag, IV[7]]
    }
}

#[inline(always)]
fn halves(block: &[u8; 64]) -> [&Half; 2] {
    let [low, high]: &[Half; 2] = bytemuck::must_cast_ref(block);
    [low, high]
}

/// Returns the digest of a state after the last block.
pub fn digest(state: State) -> [u8; 32] {
    bytemuck::must_cast(state.map(u32::to_le_bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(length: usize) -> Vec<u8> {
        (0..length).map(|index| (index * index + index / 7) as u8).collect()
    }

    #[test]
    fn hashes_match_a_library() {
        for length in (0..400).chain([511, 512, 513, 1000, 2048, 4000, 4095, 4096]) {
            let input = bytes(length);
            let expected = blake2s_simd::blake2s(&input);
            for blake2s in Blake2s::all(Cpu::detect()) {
                assert_eq!(blake2s.hash(&input), *expected.as_array(), "{length} bytes, {blake2s}");
            }
        }
    }

    #[test]
    fn hashing_halves_equals_hashing_the_input() {
        let input = bytes(448);
        let halves: Vec<Half> = input.as_chunks().0.to_vec();
        let pairs: [[&Half; 2]; 7] = std::array::from_fn(|i| [&halves[2 * i], &halves[2 * i + 1]]);
        for blake2s in Blake2s::all(Cpu::detect()) {
            assert_eq!(blake2s.hash_halves(&pairs), blake2s.hash(&input), "{blake2s}");
        }
    }
}
