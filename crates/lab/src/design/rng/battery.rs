//! A battery of tests of one stream, and its verdict.

use std::io::Read;

use statrs::distribution::{Binomial, DiscreteCDF};

use super::streams;
use crate::dieharder::{self, Assessment, Finding, Test};
use crate::{LabError, Progress, Settings, parallel};

const fn test(number: u32, name: &'static str) -> Test {
    Test { number, ntuple: None, name, large: false }
}

const fn tuple(number: u32, name: &'static str, ntuple: u32) -> Test {
    Test { ntuple: Some(ntuple), ..test(number, name) }
}

const fn large(number: u32, name: &'static str) -> Test {
    Test { large: true, ..test(number, name) }
}

/// The tests that dieharder calls good, except those that take longer than all others together
/// (marsaglia_tsang_gcd, rgb_bitdist, rgb_minimum_distance, rgb_permutations of more than 3,
/// rgb_lagged_sum of more than 0).
pub(super) const TESTS: &[Test] = &[
    test(0, "diehard_birthdays"),
    test(1, "diehard_operm5"),
    test(2, "diehard_rank_32x32"),
    test(3, "diehard_rank_6x8"),
    test(4, "diehard_bitstream"),
    test(8, "diehard_count_1s_str"),
    test(9, "diehard_count_1s_byt"),
    test(10, "diehard_parking_lot"),
    test(11, "diehard_2dsphere"),
    test(12, "diehard_3dsphere"),
    test(13, "diehard_squeeze"),
    test(15, "diehard_runs"),
    test(16, "diehard_craps"),
    test(100, "sts_monobit"),
    test(101, "sts_runs"),
    test(102, "sts_serial"),
    tuple(202, "rgb_permutations", 3),
    tuple(203, "rgb_lagged_sum", 0),
    test(204, "rgb_kstest_test"),
    large(205, "dab_bytedistrib"),
    large(206, "dab_dct"),
    large(207, "dab_filltree"),
    large(208, "dab_filltree2"),
    large(209, "dab_monobit2"),
];

/// A p-value, and a second one from other numbers if the first was rare.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tested {
    pub(super) name: String,
    pub(super) p: f64,
    pub(super) again: Option<f64>,
}

impl Tested {
    /// Assesses the first p-value.
    pub(super) fn assessment(&self) -> Assessment {
        assess(self.p)
    }
}

fn assess(p: f64) -> Assessment {
    Finding { name: String::new(), p }.assessment()
}

/// Runs tests on the stream `name`.
pub(super) fn run(
    name: &str,
    tests: &[Test],
    repeats: u64,
    settings: &Settings,
    progress: &mut dyn Progress,
) -> Result<Vec<Tested>, LabError> {
    let one = |(): &mut (), index: u64| {
        let test = tests[index as usize];
        let first = dieharder::run(test, repeats, streams::tested(name, settings.seed)?)?;
        if first.iter().all(|finding| finding.assessment() == Assessment::Passed) {
            return Ok(first.into_iter().map(|one| result(one, None)).collect());
        }
        let again = dieharder::run(test, repeats, later(name, settings.seed, repeats)?)?;
        let pairs = first.into_iter().zip(again);
        Ok(pairs
            .map(|(one, again)| {
                let rare = one.assessment() != Assessment::Passed;
                result(one, rare.then_some(again.p))
            })
            .collect::<Vec<_>>())
    };
    let (count, threads) = (tests.len() as u64, settings.threads);
    let results = parallel::map(name, count, threads, progress, || Ok(()), one)?;
    Ok(results.into_iter().flatten().collect())
}

fn result(Finding { name, p }: Finding, again: Option<f64>) -> Tested {
    Tested { name, p, again }
}

/// At least as many bytes as the first run of any test reads.
pub(super) fn used(repeats: u64) -> u64 {
    let read = |test: &Test| test.repeats(repeats) * repetition(*test);
    TESTS.iter().map(read).max().unwrap_or_default()
}

/// At least as many bytes as a repetition reads: 9.3 MB of diehard_squeeze, and 620 MB of a large test.
pub(super) fn repetition(test: Test) -> u64 {
    if test.large { 640 << 20 } else { 16 << 20 }
}

/// Returns the part of the stream that no test has read before.
fn later(name: &str, seed: u64, repeats: u64) -> Result<crate::Stream, LabError> {
    let mut stream = streams::tested(name, seed)?;
    let skipped = std::io::copy(&mut stream.by_ref().take(used(repeats)), &mut std::io::sink());
    skipped.map_err(|problem| LabError::Io { what: "a random stream", problem })?;
    Ok(stream)
}

/// Summarizes all p-values.
pub(super) fn verdict(name: &str, results: &[Tested]) -> String {
    let count = |assessment| results.iter().filter(|one| one.assessment() == assessment).count();
    let [weak, failed] = [Assessment::Weak, Assessment::Failed].map(count);
    let (rare, all) = (weak + failed, results.len());
    let twice: Vec<&str> = results
        .iter()
        .filter(|result| result.again.is_some_and(|p| assess(p) != Assessment::Passed))
        .map(|result| result.name.as_str())
        .collect();
    let again = match twice.as_slice() {
        [] if rare == 0 => String::new(),
        [] => " Measured again on other numbers, none is weak or failed.".to_owned(),
        names => {
            format!(
                " Measured again on other numbers, these are weak or failed: {}.",
                names.join(", ")
            )
        }
    };
    format!(
        "{name}: {all} p-values, {weak} weak, {failed} failed. A perfect generator has 1 p-value in 100 that is weak \
         or failed, and {rare} or more in {all} with a probability of {:.2}.{again} Tests read the same numbers, so \
         rare p-values tend to occur together.",
        at_least(rare as u64, all as u64),
    )
}

/// The probability that at least `rare` of a perfect generator's p-values are weak or failed.
fn at_least(rare: u64, count: u64) -> f64 {
    match (rare, Binomial::new(0.01, count)) {
        (0, _) | (_, Err(_)) => 1.0,
        (rare, Ok(binomial)) => binomial.sf(rare - 1),
    }
}
