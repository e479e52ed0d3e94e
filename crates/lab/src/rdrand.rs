//! The processor's own generator of random numbers: Intel's DRNG behind `rdrand`, whose numbers come
//! from a generator that is reseeded often, and `rdseed`, whose numbers are seeds themselves.

mod experiment;
#[cfg(not(target_arch = "x86_64"))]
mod none;
#[cfg(not(target_arch = "x86_64"))]
use none as x86_rdrand;
#[cfg(target_arch = "x86_64")]
mod x86_rdrand;

use std::fmt;
use std::io;
use std::sync::{PoisonError, RwLock};
use std::thread;
use std::time::{Duration, Instant};

use thiserror::Error;

pub use experiment::Reads;

/// Which generator is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instruction {
    /// Numbers of a generator, reseeded by the hardware.
    Rdrand,
    /// Seeds for generators of one's own.
    Rdseed,
}

/// How many bits a read gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// 16 bits.
    Bits16,
    /// 32 bits.
    Bits32,
    /// 64 bits.
    Bits64,
}

/// A generator that this machine has.
#[derive(Clone, Copy, Debug)]
pub struct Drng {
    instruction: Instruction,
}

/// Why there are no numbers.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum DrngError {
    /// The processor has no such instruction, or hides it.
    #[error("this processor has no `{0}` instruction, or the system hides it")]
    Missing(Instruction),
    /// The generator had no number for so many attempts.
    #[error(
        "`{instruction}` gave no number in {attempts} attempts: the generator is exhausted or broken"
    )]
    Exhausted {
        /// Which one.
        instruction: Instruction,
        /// How often it was asked.
        attempts: u32,
    },
    /// All numbers are the same, as on some processors after they slept.
    #[error("`{0}` gives the same number again and again: the generator is broken")]
    Stuck(Instruction),
    /// The number of threads is none, more than a machine has, or more than the system starts.
    #[error("threads: {0} are not between 1 and {MAX_THREADS}, or not to be had")]
    Threads(usize),
}

/// Most threads that read at once.
pub const MAX_THREADS: usize = 1024;

/// What threads read together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Throughput {
    /// Numbers a second.
    pub reads: f64,
    /// Attempts without a number, among all attempts.
    pub refused: f64,
}

/// What a thread read, and how often in vain.
#[derive(Clone, Copy, Debug, Default)]
struct Batch {
    reads: u64,
    refusals: u64,
}

/// Reads between two looks at the clock.
const BATCH: u32 = 256;

impl Drng {
    /// The generator behind `instruction`, if there is one that works.
    pub fn detect(instruction: Instruction) -> Result<Drng, DrngError> {
        if !x86_rdrand::is_there(instruction) {
            return Err(DrngError::Missing(instruction));
        }
        let drng = Drng { instruction };
        let first = drng.next_u64()?;
        for _ in 0..8 {
            if drng.next_u64()? != first {
                return Ok(drng);
            }
        }
        Err(DrngError::Stuck(instruction))
    }

    /// A number, asked for so often as the manufacturer deems enough, and no more.
    pub fn next_u64(self) -> Result<u64, DrngError> {
        let (instruction, attempts) = (self.instruction, self.instruction.attempts());
        for _ in 0..attempts {
            // SAFETY: `detect` has found the instruction before it made a `Drng`.
            if let Some(number) = unsafe { x86_rdrand::read(instruction) } {
                return Ok(number);
            }
            std::hint::spin_loop();
        }
        Err(DrngError::Exhausted { instruction, attempts })
    }

    /// How many numbers `threads` threads read together in about `time`.
    pub fn throughput(
        self,
        width: Width,
        threads: usize,
        time: Duration,
    ) -> Result<Throughput, DrngError> {
        if !(1..=MAX_THREADS).contains(&threads) {
            return Err(DrngError::Threads(threads));
        }
        // Closed until all threads are there; then it says whether they are.
        let gate = RwLock::new(false);
        let read = || match *gate.read().unwrap_or_else(PoisonError::into_inner) {
            true => self.read_for(width, time),
            false => Err(DrngError::Threads(threads)),
        };
        let results: Vec<_> = thread::scope(|scope| {
            let mut closed = gate.write().unwrap_or_else(PoisonError::into_inner);
            let spawn = |_| thread::Builder::new().spawn_scoped(scope, read);
            let spawned: Result<Vec<_>, _> = (0..threads).map(spawn).collect();
            *closed = spawned.is_ok();
            drop(closed);
            let spawned = spawned.map_err(|_| DrngError::Threads(threads))?;
            Ok(spawned.into_iter().map(|thread| thread.join()).collect())
        })?;
        let mut sum = Throughput { reads: 0.0, refused: 0.0 };
        for result in results {
            let (batch, rate) = result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
            let refused = batch.refusals as f64 / (batch.refusals + batch.reads) as f64;
            sum.reads += rate;
            sum.refused += refused / threads as f64;
        }
        Ok(sum)
    }

    /// What this thread reads in about `time`, and how many a second.
    fn read_for(self, width: Width, time: Duration) -> Result<(Batch, f64), DrngError> {
        let mut sum = Batch::default();
        let start = Instant::now();
        loop {
            // SAFETY: `detect` has found the instruction before it made a `Drng`.
            let batch = unsafe { x86_rdrand::batch(self.instruction, width, BATCH) };
            if batch.reads == 0 {
                let instruction = self.instruction;
                return Err(DrngError::Exhausted { instruction, attempts: BATCH });
            }
            sum.reads += batch.reads;
            sum.refusals += batch.refusals;
            let elapsed = start.elapsed();
            if elapsed >= time {
                return Ok((sum, sum.reads as f64 / elapsed.as_secs_f64()));
            }
        }
    }
}

/// The raw numbers, 64 bits each in little-endian order, as a stream without end.
impl io::Read for Drng {
    fn read(&mut self, output: &mut [u8]) -> io::Result<usize> {
        for bytes in output.chunks_mut(8) {
            let number = self.next_u64().map_err(io::Error::other)?;
            bytes.copy_from_slice(&number.to_le_bytes()[..bytes.len()]);
        }
        Ok(output.len())
    }
}

impl Instruction {
    /// Both.
    pub const ALL: [Instruction; 2] = [Instruction::Rdrand, Instruction::Rdseed];

    /// What assemblers call it.
    pub const fn name(self) -> &'static str {
        match self {
            Instruction::Rdrand => "rdrand",
            Instruction::Rdseed => "rdseed",
        }
    }

    /// How often to ask for a number. Ten failures of `rdrand` mean that it is broken (Intel's guide to
    /// the DRNG, 5.2.1); `rdseed` fails whenever seeds are used up, and is asked after pauses.
    const fn attempts(self) -> u32 {
        match self {
            Instruction::Rdrand => 10,
            Instruction::Rdseed => 10_000,
        }
    }
}

impl fmt::Display for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Width {
    /// All, the narrowest first.
    pub const ALL: [Width; 3] = [Width::Bits16, Width::Bits32, Width::Bits64];

    /// The number of bits.
    pub const fn bits(self) -> u32 {
        match self {
            Width::Bits16 => 16,
            Width::Bits32 => 32,
            Width::Bits64 => 64,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    /// Half of the bits are set, and each read gives other ones. A machine without the instruction
    /// says so.
    #[test]
    fn numbers_are_random_or_missing() {
        for instruction in Instruction::ALL {
            let mut drng = match Drng::detect(instruction) {
                Ok(drng) => drng,
                Err(error) => {
                    assert_eq!(error, DrngError::Missing(instruction));
                    assert!(error.to_string().contains("this processor has no"));
                    continue;
                }
            };
            let mut bytes = [0; 8001];
            drng.read_exact(&mut bytes).expect("the generator works");
            let ones: u32 = bytes.iter().map(|byte| byte.count_ones()).sum();
            // Ten standard deviations of 64,008 throws.
            assert!(ones.abs_diff(32_004) < 1265, "{ones}");
            for width in Width::ALL {
                let time = Duration::from_millis(2);
                let throughput = drng.throughput(width, 2, time).expect("the generator works");
                assert!(throughput.reads > 1000.0, "{throughput:?}");
                assert!((0.0..1.0).contains(&throughput.refused), "{throughput:?}");
            }
            let none = drng.throughput(Width::Bits64, 0, Duration::ZERO);
            assert_eq!(none, Err(DrngError::Threads(0)));
        }
    }
}
