//! The memory fill of Argon2d (RFC 9106; specification 7.1): one lane, 262,144 blocks of
//! 1 KiB, three passes. The fill is sequential by design, so only the compression of a block can be
//! made faster. Each module compresses with one instruction set.

#![allow(unsafe_code, reason = "calls code for detected instructions")]

#[cfg(target_arch = "aarch64")]
mod aarch64_neon;
mod compress;
#[cfg(not(target_arch = "wasm32"))]
mod portable;
#[cfg(target_arch = "wasm32")]
mod wasm32_simd128;
#[cfg(target_arch = "x86_64")]
mod x86_avx2;
#[cfg(target_arch = "x86_64")]
mod x86_avx512;
#[cfg(target_arch = "x86_64")]
mod x86_prefetch;
#[cfg(target_arch = "x86_64")]
mod x86_ssse3;

use std::ops::Range;

use crate::blake2b::Blake2b;
use crate::cpu::Cpu;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use crate::cpu::Extension;
use crate::params::{ARGON_ITERATIONS, ARGON_MEMORY, ARGON_SALT};

/// A block of Argon2 memory: 128 words, as the 64 pairs that are mixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, bytemuck::Zeroable, bytemuck::Pod)]
#[repr(C, align(64))]
pub struct Block(pub [[u64; 2]; 64]);

impl Block {
    fn zero() -> Block {
        Block([[0; 2]; 64])
    }

    fn words_mut(&mut self) -> &mut [u64; 128] {
        bytemuck::cast_mut(&mut self.0)
    }
}

/// Blocks written over all passes.
pub const FILL_BLOCKS: usize = ARGON_MEMORY * ARGON_ITERATIONS;

/// A quarter of a pass. A block may refer to finished slices and to its own.
const SLICE: usize = ARGON_MEMORY / 4;

/// An implementation of the block compression that this processor can run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Compressor(Vectors);

/// Only [`Compressor::new`] wraps one of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Vectors {
    /// Plain Rust.
    #[cfg(not(target_arch = "wasm32"))]
    Portable,
    /// 128-bit vectors.
    #[cfg(target_arch = "x86_64")]
    Ssse3,
    /// 256-bit vectors.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// 512-bit vectors.
    #[cfg(target_arch = "x86_64")]
    Avx512,
    /// 128-bit vectors.
    #[cfg(target_arch = "wasm32")]
    Simd128,
    /// 128-bit vectors.
    #[cfg(target_arch = "aarch64")]
    Neon,
}

impl Compressor {
    /// Returns the fastest implementation for `cpu`.
    #[cfg(not(target_arch = "wasm32"))]
    fn new(cpu: Cpu) -> Compressor {
        #[cfg(target_arch = "x86_64")]
        if cpu.has(Extension::Avx512) {
            return Compressor(Vectors::Avx512);
        } else if cpu.has(Extension::Avx2) {
            return Compressor(Vectors::Avx2);
        } else if cpu.has(Extension::Aes) {
            return Compressor(Vectors::Ssse3);
        }
        #[cfg(target_arch = "aarch64")]
        if cpu.has(Extension::Neon) {
            return Compressor(Vectors::Neon);
        }
        let _ = cpu;
        Compressor(Vectors::Portable)
    }

    /// Returns the only implementation of this build.
    #[cfg(target_arch = "wasm32")]
    fn new(_: Cpu) -> Compressor {
        Compressor(Vectors::Simd128)
    }

    fn name(self) -> &'static str {
        match self.0 {
            #[cfg(not(target_arch = "wasm32"))]
            Vectors::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Vectors::Ssse3 => "SSSE3",
            #[cfg(target_arch = "x86_64")]
            Vectors::Avx2 => "AVX2",
            #[cfg(target_arch = "x86_64")]
            Vectors::Avx512 => "AVX-512",
            #[cfg(target_arch = "wasm32")]
            Vectors::Simd128 => "SIMD128",
            #[cfg(target_arch = "aarch64")]
            Vectors::Neon => "NEON",
        }
    }

    /// Writes the blocks `numbers`, counted over all passes. All blocks before them are written.
    fn write_blocks(self, memory: &mut [Block], numbers: Range<usize>) {
        match self.0 {
            #[cfg(not(target_arch = "wasm32"))]
            Vectors::Portable => portable::write_blocks(memory, numbers),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Ssse3` exists only if `Cpu` holds the extension AES, which includes SSSE3.
            Vectors::Ssse3 => unsafe { x86_ssse3::write_blocks(memory, numbers) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Avx2` exists only if `Cpu` holds AVX2.
            Vectors::Avx2 => unsafe { x86_avx2::write_blocks(memory, numbers) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Avx512` exists only if `Cpu` holds AVX-512 F and BW.
            Vectors::Avx512 => unsafe { x86_avx512::write_blocks(memory, numbers) },
            #[cfg(target_arch = "aarch64")]
            Vectors::Neon => aarch64_neon::write_blocks(memory, numbers),
            #[cfg(target_arch = "wasm32")]
            Vectors::Simd128 => wasm32_simd128::write_blocks(memory, numbers),
        }
    }
}

/// Returns the name of the implementation that `cpu` gets.
pub fn implementation(cpu: Cpu) -> &'static str {
    Compressor::new(cpu).name()
}

/// A fill in progress. The caller owns the memory.
#[derive(Clone, Debug)]
pub struct Fill {
    compressor: Compressor,
    first: [Block; 2],
    done: usize,
}

impl Fill {
    /// Starts a fill for `key`, all of whose bytes count, with the extensions of `cpu`. It writes
    /// nothing yet.
    pub fn new(key: &[u8], cpu: Cpu) -> Fill {
        let first = first_blocks(key, cpu).map(|bytes| {
            let words = bytes.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes));
            let mut block = Block::zero();
            block.words_mut().iter_mut().zip(words).for_each(|(word, value)| *word = value);
            block
        });
        Fill { compressor: Compressor::new(cpu), first, done: 0 }
    }

    /// Returns the number of blocks written so far, of [`FILL_BLOCKS`].
    pub fn done(&self) -> usize {
        self.done
    }

    /// Writes at most `blocks` more blocks to `memory`, which must be the same [`ARGON_MEMORY`]
    /// blocks in every call.
    pub fn advance(&mut self, memory: &mut [Block], blocks: usize) {
        let end = FILL_BLOCKS.min(self.done.saturating_add(blocks));
        while self.done < end.min(self.first.len()) {
            memory[self.done] = self.first[self.done];
            self.done += 1;
        }
        self.compressor.write_blocks(memory, self.done..end);
        self.done = end;
    }
}

/// Returns the two blocks that a fill starts from.
pub fn first_blocks(key: &[u8], cpu: Cpu) -> [[u8; 1024]; 2] {
    let blake2b = Blake2b::new(cpu);
    let seed = initial_hash(blake2b, key);
    [0, 1].map(|index| initial_block(blake2b, &seed, index))
}

/// Returns the index of the block to mix in; `random` is the low word of the previous block (RFC
/// 9106, 3.4.2).
#[inline]
fn reference_index(pass: usize, index: usize, random: u32) -> usize {
    let (start, area) = if pass == 0 {
        (0, index - 1)
    } else {
        // All but the part of the present slice that is not yet rewritten.
        ((index / SLICE + 1) * SLICE, ARGON_MEMORY - SLICE + index % SLICE - 1)
    };
    let squared = (u64::from(random) * u64::from(random)) >> 32;
    let back = (area as u64 * squared) >> 32;
    (start + area - 1 - back as usize) % ARGON_MEMORY
}

/// Returns H0 of RFC 9106 with the parameters of Table 7.1.1. As in the reference, a length of more than 32 bits loses
/// the upper ones.
fn initial_hash(blake2b: Blake2b, key: &[u8]) -> [u8; 64] {
    let key = &key[..key.len() as u32 as usize];
    let word = |value: usize| (value as u32).to_le_bytes();
    blake2b.hash512(&[
        &word(1), // lanes
        &word(0), // output bytes
        &word(ARGON_MEMORY),
        &word(ARGON_ITERATIONS),
        &word(0x13), // version
        &word(0),    // Argon2d
        &word(key.len()),
        key,
        &word(ARGON_SALT.len()),
        ARGON_SALT,
        &word(0), // no secret
        &word(0), // no associated data
    ])
}

/// Returns block `index` of lane 0: H' with an output of 1024 bytes (RFC 9106, 3.3).
fn initial_block(blake2b: Blake2b, seed: &[u8; 64], index: u32) -> [u8; 1024] {
    let mut input = [0; 72];
    input[..64].copy_from_slice(seed);
    input[64..68].copy_from_slice(&index.to_le_bytes());
    blake2b.hash_long(&input)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Across the ends of passes, and in pieces.
    #[test]
    fn compressors_agree() {
        let run = |cpu: Cpu| {
            let compressor = Compressor::new(cpu);
            let fill = Fill::new(b"compressors agree", cpu);
            let mut memory = vec![Block::zero(); ARGON_MEMORY];
            memory[..2].copy_from_slice(&fill.first);
            compressor.write_blocks(&mut memory, 2..700);
            memory[ARGON_MEMORY - 1] = memory[699];
            // Blocks that were never written are zero, which serves as well.
            compressor.write_blocks(&mut memory, ARGON_MEMORY..ARGON_MEMORY + 3);
            compressor.write_blocks(&mut memory, ARGON_MEMORY + 3..ARGON_MEMORY + 300);
            compressor.write_blocks(&mut memory, ARGON_MEMORY - 200..ARGON_MEMORY + 200);
            compressor.write_blocks(&mut memory, 3 * ARGON_MEMORY - 300..3 * ARGON_MEMORY);
            memory
        };
        let expected = run(Cpu::baseline());
        for cpu in Cpu::detect().levels() {
            assert!(run(cpu) == expected, "{cpu}");
        }
    }

    /// The reference passes the length of a key to Argon2 in 32 bits.
    #[test]
    #[cfg(target_pointer_width = "64")]
    fn a_length_of_more_than_32_bits_is_cut() {
        // Zeros that are never read take no memory. Without room for their addresses, nothing is tested.
        let Ok(memory) = crate::memory::Memory::zeroed((1 << 32) + 64) else { return };
        let hash = |key: &[u8]| initial_hash(Blake2b::new(Cpu::detect()), key);
        assert_eq!(hash(&memory.as_slice()[..(1 << 32) + 5]), hash(&[0; 5]));
    }

    #[test]
    fn references_are_to_finished_blocks() {
        for pass in 0..ARGON_ITERATIONS {
            for index in [2, 3, SLICE - 1, SLICE, SLICE + 1, 2 * SLICE, ARGON_MEMORY - 1] {
                for random in [0, 1, 1 << 31, u32::MAX] {
                    let reference = reference_index(pass, index, random);
                    assert!(reference < ARGON_MEMORY && reference != index);
                    assert!(pass > 0 || reference < index);
                }
            }
        }
    }
}
