//! Randen (Wassenberg, Obryk, Alakuijala, Mogenet: arXiv 1810.02227): a generator of random numbers
//! whose next output cannot be told from the ones before (128 bits of its state are never shown),
//! nor the ones before from its state.
//!
//! It is a sponge of 2048 bits. [`Randen::generate`] permutes the state by 17 rounds of a Feistel
//! network with 16 branches of 128 bits, whose functions are two rounds of AES; then it adds the inner
//! 128 bits from before, so that nobody who sees a state can compute the one before it.
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

pub use applications::Application;
pub use contestants::Engine;
pub use experiment::Comparison;
pub use keys::Keys;
#[cfg(not(target_arch = "x86_64"))]
use no_aes_unit as aes_unit;
#[cfg(target_arch = "x86_64")]
use x86_aes_unit as aes_unit;

/// Words of the state that are never shown.
const INNER: usize = 2;

/// Words of the state.
const WORDS: usize = 32;

/// Bytes that are output, and can be absorbed, between two permutations.
pub const RATE: usize = 8 * (WORDS - INNER);

/// A generator of random numbers that is fast, unpredictable and does not betray its past.
#[derive(Clone)]
pub struct Randen {
    state: State,
    /// The next word that is output; past the last one, the state is permuted first.
    next: usize,
    keys: &'static Keys,
    implementation: Implementation,
}

/// What is absorbed when a generator is seeded: as much as it outputs between two permutations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seed(pub [u8; RATE]);

/// 16 branches of two words, whose bytes are in little-endian order.
#[derive(Clone)]
#[repr(C, align(64))]
struct State([[u64; 2]; 16]);

/// Only [`Randen::with_keys`] chooses one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Implementation {
    /// AES by lookup tables.
    Portable,
    /// AES-NI, block by block.
    #[cfg(target_arch = "x86_64")]
    AesNi,
    /// VAES: four blocks at once.
    #[cfg(target_arch = "x86_64")]
    Vaes,
}

/// Where each branch comes from after a round ("New criterion for diffusion property").
const SHUFFLE: [usize; 16] = [7, 2, 13, 4, 11, 8, 3, 6, 15, 0, 9, 10, 1, 14, 5, 12];

impl Randen {
    /// The generator whose state is zero, with the fastest implementation for `cpu`.
    pub fn new(cpu: Cpu) -> Randen {
        Randen::with_keys(cpu, &keys::PI)
    }

    /// The same with round keys of the caller's, who may keep them secret.
    pub fn with_keys(cpu: Cpu, keys: &'static Keys) -> Randen {
        let implementation = Implementation::new(cpu);
        Randen { state: State([[0; 2]; 16]), next: WORDS, keys, implementation }
    }

    /// Adds `seed` to the state and permutes it. Absorbing entropy now and then makes outputs
    /// unpredictable again for those who have seen the state.
    pub fn absorb(&mut self, seed: &Seed) {
        let outer = &mut self.state.0.as_flattened_mut()[INNER..];
        for (word, bytes) in outer.iter_mut().zip(seed.0.as_chunks().0) {
            *word ^= u64::from_le_bytes(*bytes);
        }
        self.generate();
    }

    /// Permutes the state, so that it is output from its first word on.
    pub fn generate(&mut self) {
        let (state, keys) = (&mut self.state, self.keys);
        match self.implementation {
            Implementation::Portable => portable::generate(state, &keys.natural),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `AesNi` is only chosen where `Cpu` has proven AES-NI and AVX2.
            Implementation::AesNi => unsafe { x86_aesni::generate(state, &keys.natural) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `Vaes` is only chosen where `Cpu` has proven VAES, AES-NI and AVX-512 VL.
            Implementation::Vaes => unsafe { x86_vaes::generate(state, &keys.lanes) },
        }
        self.next = INNER;
    }

    /// Leaves out the next `count` words, without computing more than it must.
    pub fn discard(&mut self, count: u64) {
        let left = (WORDS - self.next) as u64;
        if count <= left {
            self.next += count as usize;
            return;
        }
        let rate = (WORDS - INNER) as u64;
        // A state whose last word is left out is permuted when the next is asked for.
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

impl Default for Randen {
    /// The generator whose state is zero, with the fastest implementation of this machine.
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
}

impl TryRng for Randen {
    type Error = Infallible;

    /// Half of a word; the other one is not output.
    #[inline]
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(self.next() as u32)
    }

    #[inline]
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.next())
    }

    /// Whole words in little-endian order; what is left of the last one is not output.
    fn try_fill_bytes(&mut self, output: &mut [u8]) -> Result<(), Infallible> {
        for bytes in output.chunks_mut(8) {
            bytes.copy_from_slice(&self.next().to_le_bytes()[..bytes.len()]);
        }
        Ok(())
    }
}

/// All outputs as a stream without end.
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
