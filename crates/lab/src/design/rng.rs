//! Appendix F: whether the AES generators make random numbers.

mod battery;
mod streams;

use crate::dieharder::Assessment;
use crate::report::{Picture, Report, Row, Series, Shape, Table};
use crate::{Experiment, LabError, Progress, Samples, Settings, Stream};

use battery::{TESTS, Tested};
use streams::{STREAMS, TESTED};

const SUMMARY: &str = "Tests that fail";

/// How many tests of TestU01 failed in the document: all passed Crush or BigCrush, but for one.
const PUBLISHED: [(&str, f64); 4] =
    [("1r-zero", 1.0), ("1r-hashed", 0.0), ("4r-zero", 0.0), ("4r-hashed", 0.0)];

/// Experiment `rng`.
pub struct Rng;

impl Experiment for Rng {
    fn name(&self) -> &'static str {
        "rng"
    }

    fn section(&self) -> &'static str {
        "RandomX design, Appendix F"
    }

    fn about(&self) -> &'static str {
        "AesGenerator1R and AesGenerator4R, from a state of zeros and from Blake2b of the seed, and Randen are \
         tested by Debian's dieharder, since TestU01, which the document used, is not packaged. Every test is \
         repeated for as many p-values as there are samples, and says how likely these are of a perfect \
         generator. What is weak (1 in 100) or fails (1 in 500000) is tested again on other numbers. The \
         generators are raw streams too, for dieharder itself and for other programs: \
         `randomx-lab rng --raw 4r-hashed | dieharder -a -g 200`. The machine does not matter."
    }

    fn samples(&self) -> Samples {
        Samples { what: "p-values of each test", usual: 100, most: 10_000 }
    }

    fn parts(&self) -> &'static [&'static str] {
        TESTED
    }

    fn streams(&self) -> &'static [&'static str] {
        STREAMS
    }

    fn run(&self, settings: &Settings, progress: &mut dyn Progress) -> Result<Report, LabError> {
        let mut report = Report::new(self, settings);
        let repeats = settings.samples(self.samples());
        let mut series = Vec::new();
        let mut summary = Table::new(SUMMARY).columns(&["weak", "p-values"]);
        for name in TESTED.iter().filter(|name| settings.wants(name)) {
            let results = battery::run(name, TESTS, repeats, settings, progress)?;
            summary.push(summed_up(name, &results));
            report.tables.push(table(name, &results));
            report.notes.push(battery::verdict(name, &results));
            series.push(Series::new(name, Shape::Line, ranks(&results)));
        }
        report.tables.insert(0, summary);
        let perfect = [(0.0, 0.0), (1.0, 1.0)];
        series.push(Series::new("a perfect generator", Shape::Line, perfect));
        report.pictures.push(Picture::plot(
            "p-values",
            "p-values of all tests",
            "p-value",
            "part of the tests that have less",
            series,
        ));
        Ok(report)
    }

    fn stream(&self, name: &str, seed: u64) -> Result<Stream, LabError> {
        streams::of(name, seed)
    }
}

fn summed_up(name: &str, results: &[Tested]) -> Row {
    let count = |assessment| results.iter().filter(|one| one.assessment() == assessment).count();
    let others = [count(Assessment::Weak), results.len()];
    let row = Row::new(name, count(Assessment::Failed) as f64, 0)
        .also(others.map(|count| Some(count as f64)));
    match PUBLISHED.iter().find(|(of, _)| *of == name) {
        Some((_, published)) => row.published(*published).why(
            "another battery: TestU01's Crush, which reads 500 GB, found fault with its 12th test",
        ),
        None => row,
    }
}

fn table(name: &str, results: &[Tested]) -> Table {
    let mut table = Table::new(format!("p-values of {name}")).columns(&["again"]);
    for result in results {
        table.push(Row::new(&result.name, result.p, 6).also([result.again]));
    }
    table
}

/// The distribution of the p-values.
fn ranks(results: &[Tested]) -> Vec<(f64, f64)> {
    let mut sorted: Vec<f64> = results.iter().map(|result| result.p).collect();
    sorted.sort_by(f64::total_cmp);
    let count = sorted.len() as f64;
    let steps = sorted.iter().zip(1..);
    steps.map(|(p, rank)| (*p, f64::from(rank) / count)).collect()
}

#[cfg(test)]
mod tests;
