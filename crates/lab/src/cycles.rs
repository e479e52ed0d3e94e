//! Measurements in cycles of the processor's core.
//!
//! Not every machine lets a program read a cycle counter, and a clock does not follow the core's
//! frequency. So each turn is timed between two runs of a chain of dependent multiplications, which take
//! three cycles each on the x86-64 processors of the last fifteen years, and on most others. On Linux
//! the time is the thread's own processor time, so that other work on the machine disturbs it less.

use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::Progress;

/// Multiplications of a chain: some 50 microseconds, so that reading the clock does not matter.
const CHAIN: u32 = 50_000;

/// Cycles from one dependent 64-bit multiplication to the next.
const LATENCY: f64 = 3.0;

/// A function that is measured.
pub struct Contestant<'a> {
    /// Units of work per call, most often bytes.
    units: f64,
    work: Box<dyn FnMut() + 'a>,
}

/// Cycles per unit of work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cycles {
    /// The median of the turns.
    pub median: f64,
    /// The best turn, which on a busy machine was disturbed least.
    pub low: f64,
}

/// The number and length of turns.
#[derive(Clone, Copy, Debug)]
pub struct Turns {
    /// Turns of each contestant.
    pub rounds: u64,
    /// The duration of a turn.
    pub time: Duration,
}

impl<'a> Contestant<'a> {
    /// Returns a contestant that does `units` of work in each call.
    pub fn new(units: f64, work: impl FnMut() + 'a) -> Contestant<'a> {
        Contestant { units, work: Box::new(work) }
    }

    /// Measures a turn of about `time`; returns cycles per unit.
    fn turn(&mut self, time: Duration) -> f64 {
        let clock = Clock::start();
        // The wall clock, because reading the thread's time is slow.
        let start = Instant::now();
        let mut calls = 0u32;
        loop {
            (self.work)();
            calls += 1;
            if start.elapsed() >= time {
                return clock.cycles() / (f64::from(calls) * self.units);
            }
        }
    }
}

/// Counts cycles from its start.
pub struct Clock {
    frequency: f64,
    start: f64,
}

impl Clock {
    /// Starts counting.
    pub fn start() -> Clock {
        Clock { frequency: cycles_per_second(), start: seconds() }
    }

    /// Returns the cycles since the start.
    pub fn cycles(self) -> f64 {
        let elapsed = seconds() - self.start;
        // The frequency may have changed since the start.
        elapsed * f64::midpoint(self.frequency, cycles_per_second())
    }
}

/// The processor time of this thread.
#[cfg(target_os = "linux")]
fn seconds() -> f64 {
    use rustix::time::{ClockId, clock_gettime};
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// The time since the first call.
#[cfg(not(target_os = "linux"))]
fn seconds() -> f64 {
    static FIRST: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
    FIRST.elapsed().as_secs_f64()
}

/// Measures the contestants in turns, so that other work on the machine affects all alike. A short first
/// turn of each warms up.
pub fn measure(
    contestants: &mut [Contestant<'_>],
    turns: Turns,
    stage: &str,
    progress: &mut dyn Progress,
) -> Vec<Cycles> {
    for contestant in &mut *contestants {
        contestant.turn(turns.time / 4);
    }
    let mut results = vec![Vec::new(); contestants.len()];
    for round in 0..turns.rounds {
        for (contestant, results) in contestants.iter_mut().zip(&mut results) {
            results.push(contestant.turn(turns.time));
        }
        progress.at(stage, round + 1, turns.rounds);
    }
    results.iter().map(|turns| Cycles::of(turns)).collect()
}

impl Cycles {
    fn of(turns: &[f64]) -> Cycles {
        let low = turns.iter().copied().fold(f64::INFINITY, f64::min);
        Cycles { median: median(turns), low }
    }
}

/// Measures the current frequency of this core.
fn cycles_per_second() -> f64 {
    // The faster of two, as interruptions only slow it down.
    let chain = || {
        let start = seconds();
        let mut product = black_box(3u64);
        for _ in 0..CHAIN {
            product = product.wrapping_mul(product);
        }
        black_box(product);
        LATENCY * f64::from(CHAIN) / (seconds() - start)
    };
    chain().max(chain())
}

/// The median of `values`; 0 if there are none.
pub fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_unstable_by(f64::total_cmp);
    match values.len() {
        0 => 0.0,
        count if count % 2 == 1 => values[count / 2],
        count => f64::midpoint(values[count / 2 - 1], values[count / 2]),
    }
}

/// The geometric mean, which suits ratios.
pub fn geometric_mean(values: impl IntoIterator<Item = f64>) -> f64 {
    let (count, sum) =
        values.into_iter().fold((0.0, 0.0), |(count, sum), value| (count + 1.0, sum + value.ln()));
    f64::exp(sum / count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_of_known_length_takes_the_expected_cycles() {
        let mut chain = [Contestant::new(1000.0, || {
            let mut product = black_box(5u64);
            for _ in 0..1000 {
                product = product.wrapping_mul(product);
            }
            black_box(product);
        })];
        let turns = Turns { rounds: 15, time: Duration::from_millis(2) };
        let cycles = measure(&mut chain, turns, "", &mut ())[0];
        assert!((2.5..4.0).contains(&cycles.median), "{cycles:?}");
    }

    #[test]
    fn means_and_medians() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0]), 2.5);
        assert_eq!(median(&[]), 0.0);
        assert!((geometric_mean([1.0, 4.0, 16.0]) - 4.0).abs() < 1e-12);
        let cycles = Cycles::of(&[2.0, 1.0, 6.0]);
        assert_eq!(cycles, Cycles { median: 2.0, low: 1.0 });
    }
}
