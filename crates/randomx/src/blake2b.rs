//! Hash256 and Hash512 of specification 1.1, and H' of Argon2: Blake2b (RFC 7693), unkeyed.
//!
//! Each of the other modules compresses a block with one instruction set, and `fastest` chooses among
//! them. A compression is one long chain of dependent operations, so its time depends on the length of
//! that chain and on loads and stores at its ends.

#![allow(unsafe_code, reason = "calls code for detected instructions")]

#[cfg(target_arch = "x86_64")]
mod fastest;
mod portable;
#[cfg(target_arch = "x86_64")]
mod rows;
#[cfg(target_arch = "x86_64")]
pub(crate) mod x86_avx2;
#[cfg(target_arch = "x86_64")]
mod x86_avx512;

#[cfg(target_arch = "x86_64")]
use std::sync::OnceLock;

use crate::cpu::Cpu;
#[cfg(target_arch = "x86_64")]
use crate::cpu::Extension;
#[cfg(target_arch = "x86_64")]
use crate::once::once;

/// Returns Hash256 of the concatenation of `parts`.
pub fn hash256(parts: &[&[u8]]) -> [u8; 32] {
    Blake2b::default().hash256(parts)
}

/// Returns Hash512 of the concatenation of `parts`.
#[cfg(feature = "internals")]
pub fn hash512(parts: &[&[u8]]) -> [u8; 64] {
    Blake2b::default().hash512(parts)
}

/// An implementation of Blake2b that this processor can run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blake2b(Vectors);

/// Only [`Blake2b::all`] wraps one that needs extensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Vectors {
    /// Plain Rust.
    Portable,
    /// 256-bit vectors.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// 256-bit vectors with the rotations and permutations of AVX-512.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Blake2b {
    const PORTABLE: Blake2b = Blake2b(Vectors::Portable);

    /// Returns the fastest implementation for `cpu`. The first call measures all of them, which takes some
    /// tenths of a millisecond.
    pub fn new(cpu: Cpu) -> Blake2b {
        #[cfg(target_arch = "x86_64")]
        return fastest::fastest(cpu);
        #[cfg(not(target_arch = "x86_64"))]
        {
            let _ = cpu;
            Blake2b::PORTABLE
        }
    }

    /// Returns every implementation for `cpu`, the portable one first.
    #[cfg(any(target_arch = "x86_64", feature = "internals", test))]
    pub fn all(cpu: Cpu) -> impl Iterator<Item = Blake2b> {
        let all = [
            Vectors::Portable,
            #[cfg(target_arch = "x86_64")]
            Vectors::Avx2,
            #[cfg(target_arch = "x86_64")]
            Vectors::Avx512,
        ];
        all.into_iter().map(Blake2b).filter(move |blake2b| blake2b.runs_on(cpu))
    }

    /// Returns whether `cpu` has the extension that the implementation needs.
    #[cfg(any(target_arch = "x86_64", feature = "internals", test))]
    fn runs_on(self, cpu: Cpu) -> bool {
        let _ = cpu;
        match self.0 {
            Vectors::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Vectors::Avx2 => cpu.has(Extension::Avx2),
            #[cfg(target_arch = "x86_64")]
            Vectors::Avx512 => cpu.has(Extension::Avx512),
        }
    }

    /// Returns the name of the implementation.
    pub fn name(self) -> &'static str {
        match self.0 {
            Vectors::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Vectors::Avx2 => "AVX2",
            #[cfg(target_arch = "x86_64")]
            Vectors::Avx512 => "AVX-512",
        }
    }

    /// Returns Hash256 of the concatenation of `parts`.
    pub fn hash256(self, parts: &[&[u8]]) -> [u8; 32] {
        let [a, b, c, d, ..] = self.digest(32, parts);
        bytes([a, b, c, d])
    }

    /// Returns Hash512 of the concatenation of `parts`.
    pub fn hash512(self, parts: &[&[u8]]) -> [u8; 64] {
        // The most frequent input: another hash.
        if let [part] = parts
            && let Ok(input) = <[u8; 64]>::try_from(*part)
        {
            let words: [[u8; 8]; 8] = bytemuck::must_cast(input);
            let mut words = words.map(u64::from_le_bytes);
            self.rehash(&mut words);
            return bytes(words);
        }
        bytes(self.digest(64, parts))
    }

    /// Replaces 64 bytes, as words, by their Hash512.
    pub(crate) fn rehash(self, digest: &mut Words) {
        match self.0 {
            Vectors::Portable => portable::rehash(digest),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Avx2` exists only if `Cpu` holds AVX2.
            Vectors::Avx2 => unsafe { x86_avx2::rehash(digest) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Avx512` exists only if `Cpu` holds AVX-512 F and VL.
            Vectors::Avx512 => unsafe { x86_avx512::rehash(digest) },
        }
    }

    /// Returns H' of `input` with an output of 1024 bytes (RFC 9106, 3.3).
    pub fn hash_long(self, input: &[u8]) -> [u8; 1024] {
        let mut output = [Words::default(); 16];
        let mut digest = self.digest(64, &[&1024u32.to_le_bytes(), input]);
        // Each digest contributes its first half and is hashed again; the last one contributes all.
        for words in &mut output[..15] {
            words[..4].copy_from_slice(&digest[..4]);
            self.rehash(&mut digest);
            words[4..].copy_from_slice(&digest[..4]);
            self.rehash(&mut digest);
        }
        output[15] = digest;
        bytemuck::must_cast(output.map(bytes::<8, 64>))
    }

    /// Returns the state after `parts`; its first `size` bytes are the digest.
    fn digest(self, size: u64, parts: &[&[u8]]) -> Words {
        let mut state = Words::default();
        let mut progress = Progress { bytes: 0, last: false, size };
        let mut block = Block::default();
        let mut used = 0;
        for mut part in parts.iter().copied() {
            while !part.is_empty() {
                // A full block waits until more input follows, since the last block has a flag.
                if used == BLOCK_SIZE {
                    progress.bytes += BLOCK_SIZE as u64;
                    self.compress_bytes(&mut state, &mut block, progress);
                    used = 0;
                }
                let taken = part.len().min(BLOCK_SIZE - used);
                let (now, rest) = part.split_at(taken);
                bytemuck::bytes_of_mut(&mut block)[used..used + taken].copy_from_slice(now);
                used += taken;
                part = rest;
            }
        }
        bytemuck::bytes_of_mut(&mut block)[used..].fill(0);
        progress.bytes += used as u64;
        progress.last = true;
        self.compress_bytes(&mut state, &mut block, progress);
        state
    }

    /// Compresses a block whose words are still little-endian bytes.
    fn compress_bytes(self, state: &mut Words, block: &mut Block, progress: Progress) {
        block.0.as_flattened_mut().iter_mut().for_each(|word| *word = u64::from_le(*word));
        self.compress(state, &block.0, progress);
    }

    #[inline]
    fn compress(self, state: &mut Words, message: &[Words; 2], progress: Progress) {
        match self.0 {
            Vectors::Portable => portable::compress(state, message, progress),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Avx2` exists only if `Cpu` holds AVX2.
            Vectors::Avx2 => unsafe { x86_avx2::compress(state, message, progress) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Avx512` exists only if `Cpu` holds AVX-512 F and VL.
            Vectors::Avx512 => unsafe { x86_avx512::compress(state, message, progress) },
        }
    }
}

impl Default for Blake2b {
    /// Returns the fastest implementation for this processor.
    fn default() -> Blake2b {
        #[cfg(target_arch = "x86_64")]
        {
            static FASTEST: OnceLock<Blake2b> = OnceLock::new();
            *once(&FASTEST, || Blake2b::new(Cpu::detect()))
        }
        #[cfg(not(target_arch = "x86_64"))]
        Blake2b::PORTABLE
    }
}

/// The state of a hash, or half of a message block.
pub(crate) type Words = [u64; 8];

const ZEROS: Words = [0; 8];
const BLOCK_SIZE: usize = 128;

/// A message block.
#[derive(Clone, Copy, Default, bytemuck::Zeroable, bytemuck::Pod)]
#[repr(C, align(64))]
struct Block([Words; 2]);

/// The parameters of a compression besides the block and the state.
#[derive(Clone, Copy)]
struct Progress {
    /// Bytes hashed so far, including this block.
    bytes: u64,
    last: bool,
    /// Bytes of the digest.
    size: u64,
}

impl Progress {
    /// For a digest that is hashed again.
    const REHASH: Progress = Progress { bytes: 64, last: true, size: 64 };

    /// Returns words 0 to 7 of the working vector: the state, or its initial value.
    #[inline(always)]
    fn first_rows(self, state: &Words) -> Words {
        if self.bytes > BLOCK_SIZE as u64 {
            return *state;
        }
        let mut rows = IV;
        rows[0] ^= 0x0101_0000 ^ self.size;
        rows
    }

    /// Returns words 12 to 15: constants, the byte count and the final flag.
    #[inline(always)]
    fn last_row(self) -> [u64; 4] {
        let flag = if self.last { u64::MAX } else { 0 };
        [IV[4] ^ self.bytes, IV[5], IV[6] ^ flag, IV[7]]
    }
}

const IV: Words = [
    0x6a09_e667_f3bc_c908,
    0xbb67_ae85_84ca_a73b,
    0x3c6e_f372_fe94_f82b,
    0xa54f_f53a_5f1d_36f1,
    0x510e_527f_ade6_82d1,
    0x9b05_688c_2b3e_6c1f,
    0x1f83_d9ab_fb41_bd6b,
    0x5be0_cd19_137e_2179,
];

/// The message words that each round adds, in the order of its eight quarter rounds. Rounds 10 and
/// 11 repeat rounds 0 and 1. Blake2s has the same ten rows.
pub const SIGMA: [[usize; 16]; 10] = [
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
    [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
    [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
    [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
    [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
    [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
    [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
    [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
    [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
    [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
];

fn bytes<const WORDS: usize, const BYTES: usize>(words: [u64; WORDS]) -> [u8; BYTES] {
    let mut bytes = [0; BYTES];
    for (bytes, word) in bytes.as_chunks_mut().0.iter_mut().zip(words) {
        *bytes = word.to_le_bytes();
    }
    bytes
}

#[cfg(test)]
mod tests {
    use blake2::digest::consts::{U32, U64};
    use blake2::{Blake2b as Library, Digest};

    use super::*;

    /// For all lengths, and inputs cut into parts anywhere.
    #[test]
    fn implementations_agree_with_an_independent_library() {
        let mut input: Vec<u8> = Vec::new();
        for length in 0..400 {
            let (hash32, hash64) = (Library::<U32>::digest(&input), Library::<U64>::digest(&input));
            let (left, right) = input.split_at(usize::from(hash64[0]) % (length + 1));
            let (middle, right) = right.split_at(usize::from(hash64[1]) % (right.len() + 1));
            for blake2b in Blake2b::all(Cpu::detect()) {
                let (parts, name) = ([left, middle, &[], right], blake2b.name());
                assert_eq!(blake2b.hash256(&parts), hash32[..], "{length} bytes, {name}");
                assert_eq!(blake2b.hash512(&parts), hash64[..], "{length} bytes, {name}");
                assert_eq!(blake2b.hash512(&[&input]), hash64[..], "{length} bytes, {name}");
            }
            input.push(hash64[2]);
        }
    }

    #[test]
    fn long_hashes_are_chains_of_hashes() {
        for blake2b in Blake2b::all(Cpu::detect()) {
            let name = blake2b.name();
            for seed in 0..8 {
                let input = hash512(&[&[seed]]);
                let output = blake2b.hash_long(&input);
                let mut digest = Library::<U64>::digest([&[0, 4, 0, 0], &input[..]].concat());
                for half in output[..960].chunks(32) {
                    assert_eq!(half, &digest[..32], "{name}");
                    digest = Library::<U64>::digest(digest);
                }
                assert_eq!(output[960..], digest[..], "{name}");
            }
        }
    }
}
