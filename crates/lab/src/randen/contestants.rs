//! The generators in the comparison.

use std::convert::Infallible;

use rand_chacha::{ChaCha8Rng, ChaCha20Rng};
use rand_core::{Rng, SeedableRng, TryRng};
#[expect(deprecated, reason = "the paper compares with it")]
use rand_isaac::Isaac64Rng;
use rand_mt::Mt64;
use rand_pcg::Pcg64;
use rand_philox::Philox;
use randomx::aes::{Aes, AesGenerator1R, AesGenerator4R};
use randomx::cpu::Cpu;

use super::{Application, Implementation, Randen};

/// A generator in the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// Randen with the processor's extensions.
    Randen,
    /// Randen without AES instructions.
    RandenPortable,
    /// PCG with a state of 128 bits.
    Pcg,
    /// The Mersenne Twister for 64-bit numbers.
    MersenneTwister,
    /// ChaCha with 8 rounds.
    ChaCha8,
    /// ISAAC for 64-bit numbers.
    Isaac,
    /// Philox4x32-10.
    Philox,
    /// ChaCha with 20 rounds.
    ChaCha20,
    /// RandomX's generator for scratchpads.
    AesGenerator1R,
    /// RandomX's generator for programs.
    AesGenerator4R,
}

impl Engine {
    /// All generators, Randen first.
    pub const ALL: [Engine; 10] = [
        Engine::Randen,
        Engine::RandenPortable,
        Engine::Pcg,
        Engine::MersenneTwister,
        Engine::ChaCha8,
        Engine::Isaac,
        Engine::Philox,
        Engine::ChaCha20,
        Engine::AesGenerator1R,
        Engine::AesGenerator4R,
    ];

    /// The name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Engine::Randen => "Randen",
            Engine::RandenPortable => "Randen, portable",
            Engine::Pcg => "PCG",
            Engine::MersenneTwister => "MT",
            Engine::ChaCha8 => "ChaCha8",
            Engine::Isaac => "ISAAC",
            Engine::Philox => "Philox",
            Engine::ChaCha20 => "ChaCha20",
            Engine::AesGenerator1R => "AesGenerator1R",
            Engine::AesGenerator4R => "AesGenerator4R",
        }
    }

    /// The paper's cycles per byte on a Xeon E5-2690 v3, in the order of [`Application::ALL`].
    pub const fn published(self) -> Option<[f64; 4]> {
        match self {
            Engine::Randen => Some([1.54, 2.19, 2.60, 2.14]),
            Engine::Pcg => Some([0.78, 2.65, 3.03, 1.69]),
            Engine::MersenneTwister => Some([1.79, 2.19, 2.82, 2.55]),
            Engine::ChaCha8 => Some([3.02, 3.63, 3.75, 4.58]),
            Engine::Isaac => Some([4.08, 4.15, 4.46, 4.35]),
            Engine::Philox => Some([4.70, 4.87, 4.95, 4.97]),
            Engine::ChaCha20 => Some([15.27, 15.87, 13.46, 16.65]),
            Engine::RandenPortable | Engine::AesGenerator1R | Engine::AesGenerator4R => None,
        }
    }

    /// Why the paper's figure differs from that of `cpu`.
    pub fn difference(self, cpu: Cpu) -> &'static str {
        match self {
            Engine::Randen => Implementation::new(cpu).difference(),
            Engine::Pcg => {
                "the paper used pcg64_c32, here it is `rand_pcg`'s PCG XSL RR 128/64; a faster multiplier"
            }
            Engine::MersenneTwister => {
                "the paper used the C++ library's, here it is `rand_mt`; another processor"
            }
            Engine::ChaCha8 => {
                "the paper used SSE2 on one block, here `rand_chacha` uses the processor's vectors on four"
            }
            Engine::Isaac => "another processor; here it is `rand_isaac` for 64-bit numbers",
            Engine::Philox => "another processor; here it is `rand_philox` for 32-bit numbers",
            Engine::ChaCha20 => {
                "the paper read it from Linux, 256 bytes at a time; here it is `rand_chacha` in the process"
            }
            Engine::RandenPortable | Engine::AesGenerator1R | Engine::AesGenerator4R => "",
        }
    }

    /// Prepares the application with this generator, seeded.
    pub fn prepare(self, application: Application, seed: u64) -> Box<dyn FnMut() -> u64> {
        match self {
            Engine::Randen => application.prepare(Randen::seed_from_u64(seed)),
            Engine::RandenPortable => application.prepare(portable(seed)),
            Engine::Pcg => application.prepare(Pcg64::seed_from_u64(seed)),
            Engine::MersenneTwister => application.prepare(Mt64::new(seed)),
            Engine::ChaCha8 => application.prepare(ChaCha8Rng::seed_from_u64(seed)),
            #[expect(deprecated, reason = "the paper compares with it")]
            Engine::Isaac => application.prepare(Isaac64Rng::seed_from_u64(seed)),
            Engine::Philox => application.prepare(Philox::from_u64_seed(seed)),
            Engine::ChaCha20 => application.prepare(ChaCha20Rng::seed_from_u64(seed)),
            Engine::AesGenerator1R => application.prepare(aes_1r(seed)),
            Engine::AesGenerator4R => application.prepare(aes_4r(seed)),
        }
    }
}

fn portable(seed: u64) -> Randen {
    let mut generator = Randen::new(Cpu::baseline());
    let mut bytes = super::Seed::default();
    Randen::seed_from_u64(seed).fill_bytes(bytes.as_mut());
    generator.absorb(&bytes);
    generator
}

fn aes_1r(seed: u64) -> Buffered<impl FnMut(&mut Buffer)> {
    let mut generator = AesGenerator1R::new(&state(seed), Aes::new(Cpu::detect()));
    Buffered::new(move |buffer| generator.fill(buffer))
}

fn aes_4r(seed: u64) -> Buffered<impl FnMut(&mut Buffer)> {
    let mut generator = AesGenerator4R::new(&state(seed), Aes::new(Cpu::detect()));
    Buffered::new(move |buffer| generator.fill(buffer))
}

fn state(seed: u64) -> [u8; 64] {
    let mut state = [0; 64];
    Randen::seed_from_u64(seed).fill_bytes(&mut state);
    state
}

/// The 512 bytes that RandomX's generators fill at once, about as many as two states of Randen.
type Buffer = [[u8; 64]; 8];

/// A generator of words from one that fills buffers.
struct Buffered<F> {
    fill: F,
    buffer: Words,
    next: usize,
}

#[repr(C, align(64))]
struct Words([u64; 64]);

impl<F: FnMut(&mut Buffer)> Buffered<F> {
    fn new(fill: F) -> Buffered<F> {
        Buffered { fill, buffer: Words([0; 64]), next: 64 }
    }
}

impl<F: FnMut(&mut Buffer)> TryRng for Buffered<F> {
    type Error = Infallible;

    #[inline]
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(self.next_u64() as u32)
    }

    #[inline]
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        if let Some(&word) = self.buffer.0.get(self.next) {
            self.next += 1;
            return Ok(word);
        }
        (self.fill)(bytemuck::must_cast_mut(&mut self.buffer.0));
        self.next = 1;
        Ok(self.buffer.0[0])
    }

    fn try_fill_bytes(&mut self, output: &mut [u8]) -> Result<(), Infallible> {
        for bytes in output.chunks_mut(8) {
            bytes.copy_from_slice(&self.next_u64().to_le_bytes()[..bytes.len()]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_for_the_difference_is_that_of_the_code_that_ran() {
        for cpu in Cpu::detect().levels() {
            let reason = Engine::Randen.difference(cpu);
            assert_eq!(reason, Randen::new(cpu).implementation.difference(), "{cpu}");
        }
        let portable = Engine::Randen.difference(Cpu::baseline());
        assert_eq!(portable, "the paper used AES instructions, this code lookup tables");
        #[cfg(target_arch = "x86_64")]
        for (implementation, blocks) in
            [(Implementation::AesNi, "one"), (Implementation::Vaes, "four")]
        {
            let reason = implementation.difference();
            assert!(reason.ends_with(blocks), "{reason}");
        }
    }

    /// A generator that repeats itself, or ignores its seed, would fail.
    #[test]
    fn all_generators_estimate_pi() {
        for engine in Engine::ALL {
            let mut estimate = engine.prepare(Application::Pi, 11);
            let pi = (0..4).map(|_| estimate()).sum::<u64>() / 4;
            assert!(pi.abs_diff(3_141_593) < 21_000, "{}: {pi}", engine.name());
            let mut other = engine.prepare(Application::Raw, 12);
            assert_ne!(engine.prepare(Application::Raw, 11)(), other(), "{}", engine.name());
        }
    }
}
