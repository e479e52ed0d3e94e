//! Appendix F: statistical tests of the AES generators.

mod battery;
mod streams;

use crate::dieharder::Assessment;
use crate::report::{Picture, Report, Row, Series, Shape, Table};
use crate::{Description, Experiment, LabError, Progress, Samples, Settings, Stream};

use battery::{TESTS, Tested};
use streams::{STREAMS, TESTED};

const SUMMARY: &str = "Failed tests";

/// The number of TestU01's tests that failed in the document, in Crush or BigCrush, and why dieharder's differs.
const PUBLISHED: [(&str, f64, &str); 4] = [
    ("1r-zero", 1.0, "another battery: TestU01's Crush reads 500 GB, and its 12th test failed"),
    ("1r-hashed", 0.0, ""),
    ("4r-zero", 0.0, ""),
    ("4r-hashed", 0.0, ""),
];

/// Experiment `rng`.
pub struct Rng;

static DESCRIPTION: Description = Description {
    name: "rng",
    section: "RandomX design, Appendix F",
    about: "Appendix F tests AesGenerator1R and AesGenerator4R with the battery TestU01, from an initial \
     state of zeros (`1r-zero`, `4r-zero`) and from a state hashed from a seed (`1r-hashed`, \
     `4r-hashed`). TestU01 is not packaged, so Debian's dieharder tests the generators here, and \
     Randen for comparison. Each test is repeated as often as there are samples, a large one \
     (`dab_`) a hundredth as often, and its results are condensed into p-values, which are \
     uniformly distributed for a perfect generator. A \
     p-value that is weak (1 in 100) or fails (1 in 500000) is measured again on other numbers. \
     The streams can be tested with other programs too: `randomx-lab rng --raw 4r-hashed | \
     dieharder -a -g 200`. The figures do not depend on the machine.",
    samples: Samples { what: "repetitions of each test", usual: 100, least: 1, most: 10_000 },
    parts: TESTED,
    streams: STREAMS,
};

impl Experiment for Rng {
    fn description(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn run(&self, settings: &Settings, progress: &mut dyn Progress) -> Result<Report, LabError> {
        let mut report = Report::new(&DESCRIPTION, settings);
        let repeats = settings.samples(DESCRIPTION.samples);
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
            "share of tests with a smaller p-value",
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
    match PUBLISHED.iter().find(|(of, ..)| *of == name) {
        Some((_, published, why)) => row.published(*published).why(*why),
        None => row,
    }
}

fn table(name: &str, results: &[Tested]) -> Table {
    let mut table = Table::new(format!("p-values of {name}")).columns(&["repeated"]);
    for result in results {
        table.push(Row::new(&result.name, result.p, 6).also([result.again]));
    }
    table
}

/// Returns the cumulative distribution of the p-values.
fn ranks(results: &[Tested]) -> Vec<(f64, f64)> {
    let mut sorted: Vec<f64> = results.iter().map(|result| result.p).collect();
    sorted.sort_by(f64::total_cmp);
    let count = sorted.len() as f64;
    let steps = sorted.iter().zip(1..);
    steps.map(|(p, rank)| (*p, f64::from(rank) / count)).collect()
}

#[cfg(test)]
mod tests;
