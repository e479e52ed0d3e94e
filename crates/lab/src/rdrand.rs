//! The processor's random number generator (DRNG). The instruction `rdrand` returns numbers of a generator
//! that the hardware reseeds often; `rdseed` returns seeds for other generators.

mod experiment;
#[cfg(not(target_arch = "x86_64"))]
mod none;
#[cfg(not(target_arch = "x86_64"))]
use none as x86_rdrand;
#[cfg(target_arch = "x86_64")]
mod x86_rdrand;

use std::fmt;
use std::io;
use std::panic::resume_unwind;
use std::sync::{PoisonError, RwLock};
use std::thread;
use std::time::{Duration, Instant};

use randomx::MAX_THREADS;
use thiserror::Error;

use crate::cycles::Clock;

pub use experiment::Reads;

/// An instruction that returns random numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instruction {
    /// Numbers of a generator that the hardware reseeds.
    Rdrand,
    /// Seeds for other generators.
    Rdseed,
}

/// The number of bits per read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// 16 bits.
    Bits16,
    /// 32 bits.
    Bits32,
    /// 64 bits.
    Bits64,
}

/// A generator that this machine has and that works.
#[derive(Clone, Copy, Debug)]
pub struct Drng {
    instruction: Instruction,
}

/// Why no numbers can be read.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum DrngError {
    /// The processor has no such instruction, or the system hides it.
    #[error("this processor has no `{0}` instruction, or the system hides it")]
    Missing(Instruction),
    /// The generator returned no number in this many attempts.
    #[error(
        "`{instruction}` returned no number in {attempts} attempts: the generator is exhausted or broken"
    )]
    Exhausted {
        /// The instruction.
        instruction: Instruction,
        /// The number of attempts.
        attempts: u64,
    },
    /// All numbers are the same, as on some processors after sleep.
    #[error("`{0}` keeps returning the same number: the generator is broken")]
    Stuck(Instruction),
    /// The number of threads is not from 1 to [`MAX_THREADS`].
    #[error("threads: expected 1 to {MAX_THREADS}, got {0}")]
    Threads(usize),
    /// The system did not start this many threads.
    #[error("the system did not start {0} threads")]
    Spawn(usize),
}

/// The throughput of all threads together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Throughput {
    /// Numbers read per second.
    pub reads: f64,
    /// Cycles of a thread for each number, as [`Clock`] counts them.
    pub cycles: f64,
    /// The share of attempts that returned no number.
    pub failed: f64,
}

impl Throughput {
    fn of(threads: &[ThreadReads]) -> Throughput {
        let sum = |figure: fn(&ThreadReads) -> f64| threads.iter().map(figure).sum::<f64>();
        let reads = sum(|thread| thread.all.reads as f64);
        let failures = sum(|thread| thread.all.failures as f64);
        Throughput {
            reads: sum(|thread| thread.all.reads as f64 / thread.elapsed.as_secs_f64()),
            cycles: sum(|thread| thread.cycles) / reads,
            failed: failures / (failures + reads),
        }
    }
}

/// The attempts of a thread, and the time that they took.
#[derive(Clone, Copy, Debug)]
struct ThreadReads {
    all: Batch,
    elapsed: Duration,
    cycles: f64,
}

/// The attempts of a thread.
#[derive(Clone, Copy, Debug, Default)]
struct Batch {
    reads: u64,
    failures: u64,
}

/// All attempts of a thread, in batches.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    all: Batch,
    /// The attempts since the last batch with a number.
    in_vain: u64,
}

impl Tally {
    /// Adds a batch. Returns false if `most` attempts or more in a row returned no number.
    fn add(&mut self, batch: Batch, most: u64) -> bool {
        self.all.reads += batch.reads;
        self.all.failures += batch.failures;
        self.in_vain = if batch.reads == 0 { self.in_vain + batch.failures } else { 0 };
        self.in_vain < most
    }
}

/// Attempts between two readings of the clock.
const BATCH: u32 = 256;

impl Drng {
    /// Returns the generator behind `instruction`, if it exists and works.
    ///
    /// # Errors
    ///
    /// [`DrngError`] if it does not.
    pub fn detect(instruction: Instruction) -> Result<Drng, DrngError> {
        if !x86_rdrand::is_available(instruction) {
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

    /// Reads a number, with as many attempts as the manufacturer recommends.
    ///
    /// # Errors
    ///
    /// [`DrngError::Exhausted`] if all attempts fail.
    #[expect(unsafe_code, reason = "calls code for detected instructions")]
    pub fn next_u64(self) -> Result<u64, DrngError> {
        let (instruction, attempts) = (self.instruction, self.instruction.attempts());
        for _ in 0..attempts {
            // SAFETY: only `detect` makes a `Drng`, after it has found the instruction.
            if let Some(number) = unsafe { x86_rdrand::read(instruction) } {
                return Ok(number);
            }
            std::hint::spin_loop();
        }
        Err(DrngError::Exhausted { instruction, attempts })
    }

    /// Measures how many numbers `threads` threads read together in about `time`.
    ///
    /// # Errors
    ///
    /// [`DrngError`] if the threads cannot be started or the generator fails.
    pub fn throughput(
        self,
        width: Width,
        threads: usize,
        time: Duration,
    ) -> Result<Throughput, DrngError> {
        if !(1..=MAX_THREADS).contains(&threads) {
            return Err(DrngError::Threads(threads));
        }
        // Write-locked until all threads have started; then it says whether they have.
        let gate = RwLock::new(false);
        let read = || match *gate.read().unwrap_or_else(PoisonError::into_inner) {
            true => self.read_for(width, threads, time),
            false => Err(DrngError::Spawn(threads)),
        };
        let results: Vec<_> = thread::scope(|scope| {
            let mut started = gate.write().unwrap_or_else(PoisonError::into_inner);
            let spawn = |_| thread::Builder::new().spawn_scoped(scope, read);
            let spawned: Result<Vec<_>, _> = (0..threads).map(spawn).collect();
            *started = spawned.is_ok();
            drop(started);
            let spawned = spawned.map_err(|_| DrngError::Spawn(threads))?;
            Ok(spawned.into_iter().map(|thread| thread.join()).collect())
        })?;
        let join = |result: thread::Result<_>| result.unwrap_or_else(|panic| resume_unwind(panic));
        let threads: Result<Vec<_>, _> = results.into_iter().map(join).collect();
        Ok(Throughput::of(&threads?))
    }

    /// Reads on this thread, one of `threads`, for about `time`.
    #[expect(unsafe_code, reason = "calls code for detected instructions")]
    fn read_for(
        self,
        width: Width,
        threads: usize,
        time: Duration,
    ) -> Result<ThreadReads, DrngError> {
        let instruction = self.instruction;
        let most = instruction.shared_attempts(threads);
        let mut tally = Tally::default();
        let clock = Clock::start();
        let start = Instant::now();
        loop {
            // SAFETY: only `detect` makes a `Drng`, after it has found the instruction.
            let batch = unsafe { x86_rdrand::batch(instruction, width, BATCH) };
            if !tally.add(batch, most) {
                return Err(DrngError::Exhausted { instruction, attempts: tally.in_vain });
            }
            let elapsed = start.elapsed();
            // A thread without a number has not found out yet whether the generator works.
            if elapsed >= time && tally.all.reads > 0 {
                return Ok(ThreadReads { all: tally.all, elapsed, cycles: clock.cycles() });
            }
        }
    }
}

/// An endless stream of the raw numbers, 64 bits each in little-endian order.
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
    /// Both instructions.
    pub const ALL: [Instruction; 2] = [Instruction::Rdrand, Instruction::Rdseed];

    /// The instruction's mnemonic.
    pub const fn name(self) -> &'static str {
        match self {
            Instruction::Rdrand => "rdrand",
            Instruction::Rdseed => "rdseed",
        }
    }

    /// The number of attempts per read. Ten failures of `rdrand` mean that it is broken (Intel's guide to
    /// the DRNG, 5.2.1); `rdseed` fails whenever its seeds are used up, so its attempts continue for longer.
    const fn attempts(self) -> u64 {
        match self {
            Instruction::Rdrand => 10,
            Instruction::Rdseed => 10_000,
        }
    }

    /// The number of attempts in a row, in whole batches, after which the generator counts as broken. It serves all
    /// threads, so each one waits for the others.
    fn shared_attempts(self, threads: usize) -> u64 {
        self.attempts().max(BATCH.into()) * threads as u64
    }
}

impl fmt::Display for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Width {
    /// All widths, the narrowest first.
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

    /// How many of these batches a thread reads, by the number of reads in each.
    fn batches(
        instruction: Instruction,
        threads: usize,
        reads: impl Iterator<Item = u64>,
    ) -> usize {
        let (mut tally, most) = (Tally::default(), instruction.shared_attempts(threads));
        let batch = |reads| Batch { reads, failures: u64::from(BATCH) - reads };
        reads.take_while(|&reads| tally.add(batch(reads), most)).count()
    }

    #[test]
    fn a_generator_without_numbers_for_many_attempts_is_broken() {
        let never = || std::iter::repeat_n(0, 100_000);
        // The batch that reaches the most attempts is the last one.
        assert_eq!(batches(Instruction::Rdrand, 1, never()), 0);
        assert_eq!(batches(Instruction::Rdrand, 3, never()), 2);
        assert_eq!(batches(Instruction::Rdseed, 1, never()), 39);
        assert_eq!(batches(Instruction::Rdseed, 64, never()), 2499);
    }

    #[test]
    fn a_generator_that_many_threads_share_may_return_few_numbers() {
        // Of 1024 threads, each reads a number in some 18 batches.
        let rare = || (0..100_000).map(|batch| u64::from(batch % 18 == 17));
        assert_eq!(batches(Instruction::Rdseed, 1024, rare()), 100_000);
        assert_eq!(batches(Instruction::Rdseed, 1, rare()), 100_000);
        let rarer = (0..100_000).map(|batch| u64::from(batch % 40 == 39));
        assert_eq!(batches(Instruction::Rdseed, 1, rarer), 100_000);
    }

    /// A thread without the processor makes few attempts, which count no more than others.
    #[test]
    fn each_attempt_counts_the_same_on_every_thread() {
        let elapsed = Duration::from_secs(2);
        let thread = |reads, failures| {
            let all = Batch { reads, failures };
            ThreadReads { all, elapsed, cycles: 8100.0 }
        };
        let sum = Throughput::of(&[thread(10, 90), thread(800, 100)]);
        assert_eq!(sum, Throughput { reads: 405.0, cycles: 20.0, failed: 0.19 });
    }

    /// By elapsed time, eight threads on each processor would take eight times as many.
    #[cfg(target_os = "linux")]
    #[test]
    fn cycles_do_not_count_the_wait_for_a_processor() {
        let Ok(drng) = Drng::detect(Instruction::Rdrand) else { return };
        let processors = thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let cycles = |threads: usize| {
            let time = Duration::from_millis(20);
            let threads = threads.min(MAX_THREADS);
            drng.throughput(Width::Bits64, threads, time).expect("the generator works").cycles
        };
        let (one, eight) = (cycles(processors), cycles(8 * processors));
        assert!(eight < 4.0 * one, "{one} and {eight}");
    }

    /// Half of the bits are set, or the error names the missing instruction.
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
            // Ten standard deviations of 64,008 bits.
            assert!(ones.abs_diff(32_004) < 1265, "{ones}");
            for width in Width::ALL {
                let time = Duration::from_millis(2);
                let throughput = drng.throughput(width, 2, time).expect("the generator works");
                assert!(throughput.reads > 1000.0, "{throughput:?}");
                assert!((0.0..1.0).contains(&throughput.failed), "{throughput:?}");
            }
            let none = drng.throughput(Width::Bits64, 0, Duration::ZERO);
            assert_eq!(none, Err(DrngError::Threads(0)));
        }
    }
}
