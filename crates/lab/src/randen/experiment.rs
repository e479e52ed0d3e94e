//! `randomx-lab randen`: Randen against other generators.

use std::hint::black_box;
use std::time::Duration;

use randomx::cpu::Cpu;
#[cfg(target_arch = "x86_64")]
use randomx::cpu::Extension;

use super::{Application, Engine, FUNCTIONS, RATE, Randen, aes_unit};
use crate::cycles::{Contestant, Cycles, Turns, geometric_mean, measure};
use crate::{
    Description, Experiment, LabError, Picture, Progress, Report, Row, Samples, Series, Settings,
    Shape, Stream, Table,
};

/// Randen against other generators.
pub struct Comparison;

const UNIT: &str = "cycles/byte";

/// Permutations per measured call.
const STATES: usize = 1000;

static DESCRIPTION: Description = Description {
    name: "randen",
    section: "Fast backtracking-resistant random generator (arXiv 1810.02227), section 7, tables 2 to 6",
    about: "The paper compares Randen, a cryptographically strong generator of random numbers, with \
     weaker and slower ones. The figures are cycles per byte of random numbers in four \
     applications: a loop that only generates numbers, a Fisher-Yates shuffle, reservoir sampling, \
     and an estimate of pi. RandomX's two generators are measured too. The generators take turns, \
     and each figure is the median of a generator's turns; `best turn` is the fastest. A cycle is \
     a third of the time of a dependent multiplication, because a clock does not follow the core's \
     frequency. The last table compares the permutation alone with its AES rounds, one after \
     another and side by side.",
    samples: Samples { what: "turns of each generator", usual: 31, least: 1, most: 10_000 },
    parts: &["raw", "shuffle", "reservoir", "pi", "bound"],
    streams: &["randen"],
};

impl Experiment for Comparison {
    fn description(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn run(&self, settings: &Settings, progress: &mut dyn Progress) -> Result<Report, LabError> {
        let mut report = Report::new(&DESCRIPTION, settings);
        let turns =
            Turns { rounds: settings.samples(DESCRIPTION.samples), time: Duration::from_millis(4) };
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
            return Ok(super::stream(seed));
        }
        Err(DESCRIPTION.no_stream(name))
    }
}

/// Measures the cycles per byte of each of [`Engine::ALL`].
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
    let mut table = Table::new(application.title()).columns(&["best turn", "relative to Randen"]);
    let (randen, cpu) = (results[0].median, Cpu::detect());
    for (engine, cycles) in Engine::ALL.into_iter().zip(results) {
        let mut row = Row::new(engine.name(), cycles.median, 2)
            .unit(UNIT)
            .also([Some(cycles.low), Some(cycles.median / randen)])
            .why(engine.difference(cpu));
        row.published = engine.published().map(|published| published[application as usize]);
        table.push(row);
    }
    table
}

/// The paper's summary: mean costs as multiples of Randen's.
fn means(measured: &[(Application, Vec<Cycles>)]) -> Table {
    let mut table = Table::new("Geometric means of the four costs, as multiples of Randen's");
    let (published, cpu) = (Engine::Randen.published(), Cpu::detect());
    for (index, engine) in Engine::ALL.into_iter().enumerate().skip(1) {
        let ratios = measured.iter().map(|(_, results)| results[index].median / results[0].median);
        let mut row =
            Row::new(engine.name(), geometric_mean(ratios), 1).why(engine.difference(cpu));
        row.published = engine.published().zip(published).map(|(engine, randen)| {
            let mean =
                geometric_mean(engine.iter().zip(randen).map(|(cost, randen)| cost / randen));
            // Rounded as in the paper's table 6.
            (mean * 10.0).round() / 10.0
        });
        table.push(row);
    }
    table
}

#[cfg(target_arch = "x86_64")]
fn without_vaes(cpu: Cpu) -> Cpu {
    cpu.without(Extension::Vaes)
}

#[cfg(not(target_arch = "x86_64"))]
fn without_vaes(cpu: Cpu) -> Cpu {
    cpu
}

/// The permutation alone, and its lower bounds.
fn bound(turns: Turns, progress: &mut dyn Progress) -> Table {
    let cpu = Cpu::detect();
    let mut contestants = vec![permutation(cpu), permutation(without_vaes(cpu))];
    // A function is two AES rounds, and a round of the permutation calls eight functions side by side.
    let in_a_row = (2 * FUNCTIONS / 8) as f64 / RATE as f64;
    let all = (2 * FUNCTIONS) as f64 / RATE as f64;
    if let Some([chain, unit]) = aes_unit::aes_units(cpu) {
        contestants.push(Contestant::new(aes_unit::CHAIN as f64 / in_a_row, chain));
        contestants.push(Contestant::new(aes_unit::ROUNDS as f64 / all, unit));
    }
    let results = measure(&mut contestants, turns, "bound", progress);
    let mut table = Table::new("The permutation and its lower bounds").columns(&["best turn"]);
    let mut row = |what: &str, cycles: &Cycles, published: Option<f64>, why: &str| {
        let row = Row::new(what, cycles.median, 3).unit(UNIT).also([Some(cycles.low)]).why(why);
        table.push(Row { published, ..row });
    };
    row("permutation", &results[0], None, "");
    row("permutation, one block at a time", &results[1], None, "");
    if let [_, blocks, chain, unit] = &results[..] {
        // Latency of seven cycles, throughput of one round per cycle.
        let haswell = "the published figure is for Haswell, where a round takes seven cycles and one starts every cycle";
        row("34 AES rounds, one after another", chain, Some(7.0 * in_a_row), haswell);
        row("272 AES rounds, side by side", unit, Some(all), haswell);
        let over = |one: fn(&Cycles) -> f64| 100.0 * (one(blocks) / one(unit) - 1.0);
        let row = Row::new("one block at a time, excess over the rounds side by side", over(|one| one.median), 1)
            .unit("%")
            .published(5.0)
            .also([Some(over(|one| one.low))])
            .why("the paper came within 5% of one round per cycle; with two rounds per cycle, latency is harder to hide");
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
    // The portable Randen is so slow that it would squeeze all other lines together.
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
    fn a_small_run_gives_every_figure_and_reason() {
        let settings = Settings { samples: Some(3), ..Settings::default() };
        let report = crate::run(&Comparison, &settings, &mut ()).expect("a report");
        assert_eq!(report.tables.len(), 6);
        assert!(report.unexplained().is_empty(), "{:?}", report.unexplained());
        let means = &report.tables[4];
        let published: Vec<Option<f64>> = means.rows.iter().map(|row| row.published).collect();
        // Table 6 of the paper, in the order of the engines.
        let table = [None, Some(0.9), Some(1.1), Some(1.8), Some(2.0), Some(2.3), Some(7.3)];
        assert_eq!(published[..7], table);
        let raw = &report.tables[0];
        let cost = |name: &str| {
            let row = raw.rows.iter().find(|row| row.what == name).expect("a row");
            row.others[0].expect("the best turn")
        };
        // These hold on every machine, busy or idle.
        assert!(cost("ChaCha8") < cost("ChaCha20"));
        #[cfg(target_arch = "x86_64")]
        if Cpu::detect().has(Extension::Aes) {
            assert!(cost("Randen") < cost("ChaCha20"));
            assert!(3.0 * cost("Randen") < cost("Randen, portable"));
        }
    }

    #[test]
    fn the_stream_depends_on_the_seed() {
        let start = |seed| {
            let mut bytes = [0; 64];
            let mut stream = crate::stream(&Comparison, "randen", seed).expect("a stream");
            stream.read_exact(&mut bytes).expect("an endless stream");
            bytes
        };
        assert_eq!(start(1), start(1));
        assert_ne!(start(1), start(2));
    }
}
