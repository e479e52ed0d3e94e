//! A simulation of mining, program by program.

use rand::{Rng, RngExt};
use rand_distr::{Distribution, StandardNormal};
use statrs::distribution::{ContinuousCDF, Normal};

use super::{ACCEPTED, HARDWARE, Strategy, log_deviation};
use crate::random;

/// A miner with a strategy.
pub(super) struct Simulation {
    strategy: Strategy,
    length: u32,
    /// The standard deviation of the logarithm of a program's run time.
    sigma: f64,
    /// The quantile of the normal distribution above which strategy III rejects a first program.
    slow: f64,
}

/// The costs of mining some hashes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Outcome {
    hashes: u64,
    attempts: u64,
    programs: u64,
    wasted: u64,
    time: f64,
}

impl Simulation {
    pub(super) fn new(strategy: Strategy, length: u32) -> Simulation {
        let slow = Normal::standard().inverse_cdf(ACCEPTED);
        Simulation { strategy, length, sigma: log_deviation(), slow }
    }

    /// Mines this many hashes.
    pub(super) fn run(&self, hashes: u64, seed: u64, index: u64) -> Outcome {
        let mut random = random::of(seed, index);
        let mut outcome = Outcome::default();
        while outcome.hashes < hashes {
            self.attempt(&mut random, &mut outcome);
        }
        outcome
    }

    /// Starts a chain, and completes or abandons it.
    fn attempt(&self, random: &mut impl Rng, outcome: &mut Outcome) {
        outcome.attempts += 1;
        for executed in 0..self.length {
            // The first program is always acceptable, since rejecting others costs nothing.
            let acceptable = executed == 0 || random.random_bool(ACCEPTED);
            if self.strategy == Strategy::Partial && !acceptable {
                outcome.wasted += u64::from(executed);
                return;
            }
            outcome.programs += 1;
            outcome.time += self.execute(executed == 0, random);
        }
        outcome.hashes += 1;
    }

    /// Returns the run time of a program.
    fn execute(&self, first: bool, random: &mut impl Rng) -> f64 {
        let normal: f64 = StandardNormal.sample(random);
        // Scaled so that the mean of all programs is 1.
        let time = (self.sigma * (normal - 0.5 * self.sigma)).exp();
        match self.strategy {
            Strategy::Honest => time,
            Strategy::Partial => time / HARDWARE,
            Strategy::Choosy if !first || normal <= self.slow => time,
            Strategy::Choosy => self.execute(first, random),
        }
    }
}

impl Outcome {
    /// Adds two outcomes.
    pub(super) fn and(self, other: Outcome) -> Outcome {
        Outcome {
            hashes: self.hashes + other.hashes,
            attempts: self.attempts + other.attempts,
            programs: self.programs + other.programs,
            wasted: self.wasted + other.wasted,
            time: self.time + other.time,
        }
    }

    pub(super) fn programs_per_hash(&self) -> f64 {
        self.programs as f64 / self.hashes as f64
    }

    pub(super) fn time_per_hash(&self) -> f64 {
        self.time / self.hashes as f64
    }

    pub(super) fn wasted_per_attempt(&self) -> f64 {
        self.wasted as f64 / self.attempts as f64
    }
}
