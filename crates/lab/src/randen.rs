//! Randen (Wassenberg, Obryk, Alakuijala, Mogenet: arXiv 1810.02227), a cryptographically strong
//! generator of random numbers. Past outputs do not reveal future ones, because 128 bits of the state
//! are never output. The state does not reveal past outputs.
//!
//! Randen is a sponge of 2048 bits. [`Randen::generate`] permutes the state with 17 rounds of a Feistel
//! network that has 16 branches of 128 bits, and whose function is two rounds of AES. It then XORs the
//! previous inner 128 bits into the state, so that the permutation cannot be inverted.
//!
//! ```
//! use rand_core::{Rng, SeedableRng};
//! use randomx_lab::randen::{Randen, Seed};
//!
//! let mut generator = Randen::from_seed(Seed([7; 240]));
//! let first = generator.next_u64();
//! generator.discard(1_000_000);
//! assert_ne!(first, generator.next_u64());
//! ```

mod applications;
mod contestants;
mod experiment;
mod keys;
#[cfg(target_arch = "x86_64")]
mod lanes;
#[cfg(not(target_arch = "x86_64"))]
mod no_aes_unit;
mod permutation;
mod portable;
#[cfg(target_arch = "x86_64")]
mod x86_aes_unit;
#[cfg(target_arch = "x86_64")]
mod x86_aesni;
#[cfg(target_arch = "x86_64")]
mod x86_vaes;

use std::convert::Infallible;
use std::io;

use rand_core::{Rng, SeedableRng, TryRng};
use randomx::cpu::Cpu;
#[cfg(target_arch = "x86_64")]
use randomx::cpu::Extension;

use crate::Stream;
pub use applications::Application;
pub use contestants::Engine;
pub use experiment::Comparison;
pub use keys::Keys;
#[cfg(not(target_arch = "x86_64"))]
use no_aes_unit as aes_unit;
pub use permutation::FUNCTIONS;
use permutation::State;
#[cfg(target_arch = "x86_64")]
use x86_aes_unit as aes_unit;

/// Words of the state that are never output.
const INNER: usize = 2;

/// Words of the state.
const WORDS: usize = 32;

/// Bytes output, and absorbed, between two permutations.
pub const RATE: usize = 8 * (WORDS - INNER);

/// A fast generator of random numbers that is unpredictable and does not reveal past outputs.
#[derive(Clone)]
pub struct Randen {
    state: State,
    /// The next word to output. If it is past the last word, the state is permuted first.
    next: usize,
    keys: &'static Keys,
    implementation: Implementation,
}

/// A seed, as long as the output between two permutations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seed(pub [u8; RATE]);

/// An implementation of the permutation that this processor runs: only [`Randen::with_keys`] chooses one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Implementation {
    /// AES with lookup tables.
    Portable,
    /// AES-NI, one block at a time.
    #[cfg(target_arch = "x86_64")]
    AesNi,
    /// VAES, four blocks at a time.
    #[cfg(target_arch = "x86_64")]
    Vaes,
}

impl Randen {
    /// Returns a generator with a zero state and the fastest implementation for `cpu`.
    pub fn new(cpu: Cpu) -> Randen {
        Randen::with_keys(cpu, &keys::PI)
    }

    /// Returns such a generator with the caller's round keys, which may be secret.
    pub fn with_keys(cpu: Cpu, keys: &'static Keys) -> Randen {
        let implementation = Implementation::new(cpu);
        Randen { state: State([[0; 2]; 16]), next: WORDS, keys, implementation }
    }

    /// XORs `seed` into the state and permutes it. After the state has been exposed, absorbing new entropy
    /// makes outputs unpredictable again.
    pub fn absorb(&mut self, seed: &Seed) {
        let outer = &mut self.state.0.as_flattened_mut()[INNER..];
        for (word, bytes) in outer.iter_mut().zip(seed.0.as_chunks().0) {
            *word ^= u64::from_le_bytes(*bytes);
        }
        self.generate();
    }

    /// Permutes the state and restarts the output at its first outer word.
    #[allow(unsafe_code, reason = "calls code for detected instructions")]
    pub fn generate(&mut self) {
        let (state, keys) = (&mut self.state, self.keys);
        match self.implementation {
            Implementation::Portable => portable::generate(state, &keys.in_order),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `AesNi` is only chosen if `Cpu` has AES-NI and AVX2.
            Implementation::AesNi => unsafe { x86_aesni::generate(state, &keys.in_order) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Vaes` is only chosen if `Cpu` has VAES, which implies AES-NI and AVX-512 VL.
            Implementation::Vaes => unsafe { x86_vaes::generate(state, &keys.lanes) },
        }
        self.next = INNER;
    }

    /// Skips the next `count` words, without computing more than necessary.
    pub fn discard(&mut self, count: u64) {
        let left = (WORDS - self.next) as u64;
        if count <= left {
            self.next += count as usize;
            return;
        }
        let rate = (WORDS - INNER) as u64;
        // If the last skipped word ends a state, the next output permutes it.
        let states = (count - left).div_ceil(rate);
        for _ in 0..states {
            self.generate();
        }
        self.next = INNER + (count - left - (states - 1) * rate) as usize;
    }

    #[inline]
    fn next(&mut self) -> u64 {
        if let Some(&word) = self.state.0.as_flattened().get(self.next) {
            self.next += 1;
            return word;
        }
        self.generate();
        self.next += 1;
        self.state.0.as_flattened()[INNER]
    }
}

/// Returns the outputs of a seeded generator as a stream.
pub(crate) fn stream(seed: u64) -> Stream {
    Box::new(Randen::seed_from_u64(seed))
}

impl Default for Randen {
    /// Returns a generator with a zero state and the fastest implementation for this machine.
    fn default() -> Randen {
        Randen::new(Cpu::detect())
    }
}

impl Implementation {
    fn new(cpu: Cpu) -> Implementation {
        #[cfg(target_arch = "x86_64")]
        if cpu.has(Extension::Vaes) {
            return Implementation::Vaes;
        } else if cpu.has(Extension::Aes) && cpu.has(Extension::Avx2) {
            return Implementation::AesNi;
        }
        let _ = cpu;
        Implementation::Portable
    }

    /// Why the paper's figures for Randen differ.
    const fn difference(self) -> &'static str {
        match self {
            Implementation::Portable => "the paper used AES instructions, this code lookup tables",
            #[cfg(target_arch = "x86_64")]
            Implementation::AesNi => {
                "another processor; the paper's AES processes one block at a time, this one also one"
            }
            #[cfg(target_arch = "x86_64")]
            Implementation::Vaes => "the paper's AES processes one block at a time, this one four",
        }
    }
}

impl TryRng for Randen {
    type Error = Infallible;

    /// Returns the low half of a word and discards the high half.
    #[inline]
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(self.next() as u32)
    }

    #[inline]
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.next())
    }

    /// Outputs words in little-endian order and discards the rest of the last one.
    fn try_fill_bytes(&mut self, output: &mut [u8]) -> Result<(), Infallible> {
        for bytes in output.chunks_mut(8) {
            bytes.copy_from_slice(&self.next().to_le_bytes()[..bytes.len()]);
        }
        Ok(())
    }
}

/// An endless stream of all outputs.
impl io::Read for Randen {
    fn read(&mut self, output: &mut [u8]) -> io::Result<usize> {
        self.fill_bytes(output);
        Ok(output.len())
    }
}

impl SeedableRng for Randen {
    type Seed = Seed;

    fn from_seed(seed: Seed) -> Randen {
        let mut generator = Randen::default();
        generator.absorb(&seed);
        generator
    }
}

impl Default for Seed {
    fn default() -> Seed {
        Seed([0; RATE])
    }
}

impl AsRef<[u8]> for Seed {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl AsMut<[u8]> for Seed {
    fn as_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

#[cfg(test)]
mod tests;
