//! `randomx-lab randen`: the measurements of the paper.

use std::hint::black_box;
use std::time::Duration;

use rand_core::SeedableRng;
use randomx::cpu::{Cpu, Extension};

use super::{Application, Engine, RATE, Randen, aes_unit, keys};
use crate::cycles::{Contestant, Cycles, Turns, geometric_mean, measure};
use crate::{
    Experiment, LabError, Picture, Progress, Report, Row, Samples, Series, Settings, Shape, Stream,
    Table,
};

/// Randen against other generators.
pub struct Comparison;

const UNIT: &str = "cycles/byte";

/// States that the permutation alone is measured with at a time.
const STATES: usize = 1000;

impl Experiment for Comparison {
    fn name(&self) -> &'static str {
        "randen"
    }

    fn section(&self) -> &'static str {
        "Fast backtracking-resistant random generator (arXiv 1810.02227), section 7, tables 2 to 6"
    }

    fn about(&self) -> &'static str {
        "Cycles per byte of random numbers in a loop that does nothing else, a Fisher-Yates shuffle, \
         reservoir sampling and an estimate of pi: Randen, the generators it was compared with, and \
         RandomX's own two. They take turns; a figure is the median of the turns, and a cycle a third of \
         a dependent multiplication, as the clock's frequency is not the core's. Then the permutation \
         alone beside what its rounds of AES take, in a row and side by side."
    }

    fn samples(&self) -> Samples {
        Samples { what: "turns of each generator", usual: 31, most: 10_000 }
    }

    fn parts(&self) -> &'static [&'static str] {
        &["raw", "shuffle", "reservoir", "pi", "bound"]
    }

    fn streams(&self) -> &'static [&'static str] {
        &["randen"]
    }

    fn run(&self, settings: &Settings, progress: &mut dyn Progress) -> Result<Report, LabError> {
        let mut report = Report::new(self, settings);
        let turns =
            Turns { rounds: settings.samples(self.samples()), time: Duration::from_millis(4) };
        let mut measured = Vec::new();
        for application in Application::ALL {
            if settings.wants(application.name()) {
                let results = applications(application, settings.seed, turns, progress);
                report.tables.push(application_table(application, &results));
                measured.push((application, results));
            }
        }
        if measured.len() == Application::ALL.len() {
            report.tables.push(means(&measured));
            report.pictures.push(picture(&measured));
        }
        if settings.wants("bound") {
            report.tables.push(bound(turns, progress));
        }
        Ok(report)
    }

    fn stream(&self, name: &str, seed: u64) -> Result<Stream, LabError> {
        if name == "randen" {
            return Ok(Box::new(Randen::seed_from_u64(seed)));
        }
        Err(LabError::Stream { name: name.to_owned(), known: self.streams().join(", ") })
    }
}

/// Cycles per byte of each of [`Engine::ALL`].
fn applications(
    application: Application,
    seed: u64,
    turns: Turns,
    progress: &mut dyn Progress,
) -> Vec<Cycles> {
    let mut contestants: Vec<Contestant<'_>> = Engine::ALL
        .into_iter()
        .map(|engine| {
            let mut work = engine.prepare(application, seed);
            Contestant::new(application.bytes() as f64, move || _ = black_box(work()))
        })
        .collect();
    measure(&mut contestants, turns, application.name(), progress)
}

fn application_table(application: Application, results: &[Cycles]) -> Table {
    let mut table = Table::new(application.title()).columns(&["best turn", "times Randen's"]);
    let randen = results[0].median;
    for (engine, cycles) in Engine::ALL.into_iter().zip(results) {
        let mut row = Row::new(engine.name(), cycles.median, 2)
            .unit(UNIT)
            .also([Some(cycles.low), Some(cycles.median / randen)])
            .why(engine.difference());
        row.published = engine.published().map(|published| published[application as usize]);
        table.push(row);
    }
    table
}

/// The paper's summary: what generators cost on average, as multiples of Randen.
fn means(measured: &[(Application, Vec<Cycles>)]) -> Table {
    let mut table = Table::new("Geometric means of the four, as multiples of Randen's cost");
    let published = Engine::Randen.published();
    for (index, engine) in Engine::ALL.into_iter().enumerate().skip(1) {
        let ratios = measured.iter().map(|(_, results)| results[index].median / results[0].median);
        let mut row = Row::new(engine.name(), geometric_mean(ratios), 1).why(engine.difference());
        row.published = engine.published().zip(published).map(|(engine, randen)| {
            let mean =
                geometric_mean(engine.iter().zip(randen).map(|(cost, randen)| cost / randen));
            // As the paper's table 6 has them.
            (mean * 10.0).round() / 10.0
        });
        table.push(row);
    }
    table
}

/// The permutation without anything around it, and what bounds it.
fn bound(turns: Turns, progress: &mut dyn Progress) -> Table {
    let cpu = Cpu::detect();
    let mut contestants = vec![permutation(cpu), permutation(cpu.without(Extension::Vaes))];
    // A function is two rounds of AES, and eight functions are a round of the permutation.
    let in_a_row = (2 * keys::FUNCTIONS / 8) as f64 / RATE as f64;
    let all = (2 * keys::FUNCTIONS) as f64 / RATE as f64;
    if let Some([chain, unit]) = aes_unit::aes_units(cpu) {
        contestants.push(Contestant::new(aes_unit::CHAIN as f64 / in_a_row, chain));
        contestants.push(Contestant::new(aes_unit::ROUNDS as f64 / all, unit));
    }
    let results = measure(&mut contestants, turns, "bound", progress);
    let mut table = Table::new("The permutation and what bounds it").columns(&["best turn"]);
    let mut row = |what: &str, cycles: &Cycles, published: Option<f64>, why: &str| {
        let row = Row::new(what, cycles.median, 3).unit(UNIT).also([Some(cycles.low)]).why(why);
        table.push(Row { published, ..row });
    };
    row("permutation", &results[0], None, "");
    row("permutation, without vectors of blocks", &results[1], None, "");
    if let [_, blocks, chain, unit] = &results[..] {
        // Seven cycles a round, and one round a cycle.
        let haswell =
            "published: Haswell, which ends a round after seven cycles and begins one in each";
        row("34 rounds of AES in a row", chain, Some(7.0 * in_a_row), haswell);
        row("272 rounds of AES side by side", unit, Some(all), haswell);
        let over = |one: fn(&Cycles) -> f64| 100.0 * (one(blocks) / one(unit) - 1.0);
        let row = Row::new("without vectors, over the rounds side by side", over(|one| one.median), 1)
            .unit("%")
            .published(5.0)
            .also([Some(over(|one| one.low))])
            .why("published: within 5 % of one round a cycle; two rounds a cycle leave less time to wait");
        table.push(row);
    }
    table
}

fn permutation(cpu: Cpu) -> Contestant<'static> {
    let mut generator = Randen::new(cpu);
    Contestant::new((STATES * RATE) as f64, move || {
        (0..STATES).for_each(|_| black_box(&mut generator).generate());
    })
}

fn picture(measured: &[(Application, Vec<Cycles>)]) -> Picture {
    // AES by lookup tables is so slow that the others could not be told apart beside it.
    let engines = Engine::ALL.into_iter().enumerate();
    let engines = engines.filter(|(_, engine)| *engine != Engine::RandenPortable);
    let series = engines.map(|(index, engine)| {
        let points = measured.iter().enumerate();
        let points =
            points.map(|(place, (_, results))| (place as f64 + 1.0, results[index].median));
        Series::new(engine.name(), Shape::Line, points)
    });
    Picture::plot(
        "cycles",
        "Cycles per byte of random numbers",
        "1 raw, 2 shuffle, 3 reservoir, 4 pi",
        UNIT,
        series.collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_run_has_every_figure_and_a_reason_for_each() {
        let settings = Settings { samples: Some(3), ..Settings::default() };
        let report = crate::run(&Comparison, &settings, &mut ()).expect("it needs nothing");
        assert_eq!(report.tables.len(), 6);
        assert!(report.unexplained().is_empty(), "{:?}", report.unexplained());
        let means = &report.tables[4];
        let published: Vec<Option<f64>> = means.rows.iter().map(|row| row.published).collect();
        // Table 6 of the paper, in the order of the engines.
        let table = [None, Some(0.9), Some(1.1), Some(1.8), Some(2.0), Some(2.3), Some(7.3)];
        assert_eq!(published[..7], table);
        let raw = &report.tables[0];
        let cost = |name: &str| {
            let row = raw.rows.iter().find(|row| row.what == name).expect("a row of each");
            row.others[0].expect("the best turn")
        };
        // What holds on every machine, busy or not.
        assert!(cost("ChaCha8") < cost("ChaCha20"));
        if Cpu::detect().has(Extension::Aes) {
            assert!(cost("Randen") < cost("ChaCha20"));
            assert!(3.0 * cost("Randen") < cost("Randen, portable"));
        }
    }

    #[test]
    fn the_stream_is_the_generator_and_follows_its_seed() {
        let start = |seed| {
            let mut bytes = [0; 64];
            let mut stream = crate::stream(&Comparison, "randen", seed).expect("it is there");
            stream.read_exact(&mut bytes).expect("it has no end");
            bytes
        };
        assert_eq!(start(1), start(1));
        assert_ne!(start(1), start(2));
    }
}
