//! Appendix A: what miners gain by looking for easy programs.

mod simulation;

use statrs::distribution::{ContinuousCDF, Normal};

use crate::report::{Picture, Report, Row, Series, Shape, Table};
use crate::{Description, Experiment, LabError, Progress, Samples, Settings, parallel};

use simulation::{Outcome, Simulation};

/// The share of programs that strategies II and III accept.
const ACCEPTED: f64 = 0.75;
/// How much faster strategy II executes accepted programs.
const HARDWARE: f64 = 1.5;
/// How much faster the first programs of strategy III are on average.
const EASY: f64 = 1.05;

/// Chain lengths with published figures: programs executed by strategy II, and the speeds of II and III.
const PUBLISHED: [(u32, [f64; 3]); 4] = [
    (1, [1.0, 1.50, 1.05]),
    (2, [2.3, 1.28, 1.02]),
    (4, [6.5, 0.92, 1.01]),
    (8, [27.0, 0.44, 1.0]),
];

/// The longest chain in the picture.
const LONGEST: u32 = 16;

const PROGRAMS: &str = "Programs executed per hash";
const SPEEDS: &str = "Speed relative to strategy I";
const WASTE: &str = "Programs that strategy II wastes per attempt";

/// Experiment `chain`.
pub struct Chain;

/// A miner's strategy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Strategy {
    /// Accepts every program.
    Honest,
    /// Uses hardware that executes only some programs, but faster.
    Partial,
    /// Rejects the slowest programs as the first of a chain.
    Choosy,
}

impl Strategy {
    const ALL: [Strategy; 3] = [Strategy::Honest, Strategy::Partial, Strategy::Choosy];

    fn name(self) -> &'static str {
        match self {
            Strategy::Honest => "I",
            Strategy::Partial => "II",
            Strategy::Choosy => "III",
        }
    }

    /// The mean number of programs executed until `length` in a row were acceptable.
    fn programs(self, length: u32) -> f64 {
        let n = length as i32;
        match self {
            // Choosing the first program is free. Each further program is executed if all before it
            // were accepted. An attempt completes the chain with probability Q^(N-1).
            Strategy::Partial => {
                (1.0 - ACCEPTED.powi(n)) / ((1.0 - ACCEPTED) * ACCEPTED.powi(n - 1))
            }
            Strategy::Honest | Strategy::Choosy => f64::from(length),
        }
    }

    /// Hashes computed in the time that strategy I needs for one.
    fn speed(self, length: u32) -> f64 {
        let n = f64::from(length);
        match self {
            Strategy::Honest => 1.0,
            Strategy::Partial => HARDWARE * n / self.programs(length),
            Strategy::Choosy => n / (n - 1.0 + 1.0 / EASY),
        }
    }
}

/// The mean number of programs that strategy II executes in vain per attempt.
fn wasted(length: u32) -> f64 {
    let terms = (1..length).map(|k| f64::from(k) * ACCEPTED.powi(k as i32 - 1));
    (1.0 - ACCEPTED) * terms.sum::<f64>()
}

/// The standard deviation of the logarithm of run times at which the fastest 75% of programs have the
/// advantage of strategy III. Below its quantile z, a log-normal distribution has a partial mean of the
/// whole mean times the share below z - sigma.
fn log_deviation() -> f64 {
    let normal = Normal::standard();
    normal.inverse_cdf(ACCEPTED) - normal.inverse_cdf(ACCEPTED / EASY)
}

static DESCRIPTION: Description = Description {
    name: "chain",
    section: "RandomX design, 1.2 and Appendix A",
    about: "A hash executes a chain of N programs, each generated from the result of the one before, so \
     that looking for easy programs gains nothing. Appendix A compares three strategies. Strategy \
     I executes every program. Strategy II uses hardware that cannot execute 25% of programs and \
     executes the others 50% faster. Strategy III rejects the slowest 25% of first programs. The \
     column `here` evaluates the appendix's formulas. The column `simulated` comes from a \
     simulation that does not use them: it chooses, executes and abandons programs one by one, and \
     their run times have a log-normal distribution that gives strategy III its gain of 5%. The \
     figures do not depend on the machine.",
    samples: Samples {
        what: "hashes of each strategy",
        usual: 1_000_000,
        least: 1,
        most: 100_000_000,
    },
    parts: &[],
    streams: &[],
};

impl Experiment for Chain {
    fn description(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn run(&self, settings: &Settings, progress: &mut dyn Progress) -> Result<Report, LabError> {
        let mut report = Report::new(&DESCRIPTION, settings);
        let columns = &["simulated"];
        let mut programs = Table::new(PROGRAMS).columns(columns);
        let mut speeds = Table::new(SPEEDS).columns(columns);
        let mut waste = Table::new(WASTE).columns(columns);
        let mut dots = Strategy::ALL.map(|_| Vec::new());
        for (length, published) in PUBLISHED {
            for (strategy, dots) in Strategy::ALL.into_iter().zip(&mut dots) {
                let outcome = simulate(settings, DESCRIPTION.samples, strategy, length, progress)?;
                let name = format!("N({}), N = {length}", strategy.name());
                let known =
                    if strategy == Strategy::Partial { published[0] } else { length.into() };
                programs.push(
                    Row::new(name, strategy.programs(length), 1)
                        .published(known)
                        .also([Some(outcome.programs_per_hash())]),
                );
                let known = [1.0, published[1], published[2]][strategy as usize];
                let simulated = f64::from(length) / outcome.time_per_hash();
                let name = format!("Speed({}), N = {length}", strategy.name());
                speeds.push(
                    Row::new(name, strategy.speed(length), 2)
                        .published(known)
                        .also([Some(simulated)])
                        .why("the document truncates instead of rounding"),
                );
                dots.push((f64::from(length), simulated));
                if strategy == Strategy::Partial && length == 8 {
                    let row = Row::new("N = 8", wasted(length), 1).published(2.5);
                    waste.push(row.also([Some(outcome.wasted_per_attempt())]));
                }
            }
        }
        report.tables.extend([programs, speeds, waste]);
        report.pictures.push(picture(dots));
        report.notes.push(format!(
            "Rejecting the slowest 25% gains 5% if the logarithm of the run times has a standard deviation of \
             {:.3}. `randomx-lab runtime` measures that deviation.",
            log_deviation()
        ));
        Ok(report)
    }
}

fn simulate(
    settings: &Settings,
    samples: Samples,
    strategy: Strategy,
    length: u32,
    progress: &mut dyn Progress,
) -> Result<Outcome, LabError> {
    /// Hashes that a thread simulates at a time.
    const CHUNK: u64 = 10_000;
    let hashes = settings.samples(samples);
    let simulation = Simulation::new(strategy, length);
    let chunk = |(): &mut (), chunk: u64| {
        let hashes = CHUNK.min(hashes - chunk * CHUNK);
        Ok(simulation.run(hashes, settings.seed, chunk))
    };
    let stage = format!("strategy {}, N = {length}", strategy.name());
    let chunks = hashes.div_ceil(CHUNK);
    let outcomes = parallel::map(&stage, chunks, settings.threads, progress, || Ok(()), chunk)?;
    Ok(outcomes.into_iter().fold(Outcome::default(), Outcome::and))
}

fn picture(dots: [Vec<(f64, f64)>; 3]) -> Picture {
    let mut series = Vec::new();
    for (strategy, dots) in Strategy::ALL.into_iter().zip(dots) {
        let name = format!("strategy {}", strategy.name());
        let line = (1..=LONGEST).map(|length| (f64::from(length), strategy.speed(length)));
        series.push(Series::new(&name, Shape::Line, line));
        series.push(Series::new(&format!("{name}, simulated"), Shape::Dots, dots));
    }
    let title = "Speed by length of the chain";
    Picture::plot("speed", title, "programs in a chain", "speed relative to strategy I", series)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The formulas give the appendix's table to its last digit, and the simulation confirms them.
    #[test]
    fn figures_match_the_document() {
        let settings = Settings { samples: Some(100_000), ..Settings::default() };
        let report = crate::run(&Chain, &settings, &mut ()).expect("a report");
        let mut compared = 0;
        for table in &report.tables {
            let unit = if table.title == SPEEDS { 0.01 } else { 0.05 };
            for row in &table.rows {
                let published = row.published.expect("a published figure");
                assert!((row.here - published).abs() < unit, "{row:?}");
                let simulated = row.others[0].expect("a simulated figure");
                assert!((simulated / row.here - 1.0).abs() < 0.01, "{row:?}");
                compared += 1;
            }
        }
        assert_eq!(compared, 12 + 12 + 1);
        assert!(report.unexplained().is_empty());
        let speed = report.row(SPEEDS, "Speed(II), N = 8").expect("a row");
        assert!(speed.here < 0.5, "less than half the speed of the honest miner: {speed:?}");
    }

    #[test]
    fn the_report_depends_on_the_seed_and_not_on_the_threads() {
        let report = |seed, threads| {
            let settings = Settings { seed, threads, samples: Some(25_000), ..Settings::default() };
            crate::run(&Chain, &settings, &mut ()).expect("a report")
        };
        assert_eq!(report(1, 1), report(1, 3));
        assert_ne!(report(1, 1).tables, report(2, 1).tables);
    }
}
