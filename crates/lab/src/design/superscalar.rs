//! Appendix E: SuperscalarHash.

mod sensitivity;
mod uniqueness;

use randomx::blake_generator::BlakeGenerator;
use randomx::params::DATASET_ITEMS;
use randomx::superscalar::generate_traced;
use randomx_figures::{Schedule, SuperscalarStatistics};

use crate::report::{Picture, Report, Row, Series, Shape, Table};
use crate::{Experiment, LabError, Progress, Samples, Settings, parallel};

use sensitivity::Sensitivity;
use uniqueness::{SENSITIVE, Uniqueness};

const MEANS: &str = "Programs of SuperscalarHash, means";
const CHANGED: &str = "Bits of 512 that change with a bit of an input register";
const INSENSITIVE: &str = "Programs in which a bit changes fewer than 192 or more than 320 of 512";
const UNIQUE: &str = "Initial registers of items";

/// Experiment `superscalar`.
pub struct Superscalar;

impl Experiment for Superscalar {
    fn name(&self) -> &'static str {
        "superscalar"
    }

    fn section(&self) -> &'static str {
        "RandomX design, 3.4 and Appendix E"
    }

    fn about(&self) -> &'static str {
        "means: what programs of SuperscalarHash are made of, with the cycles that they take the reference \
         processor of the specification, from the generator's trace. sensitivity: each bit of each input \
         register is flipped in random programs, and the bits of the result that change are counted. \
         uniqueness: bits 3 to 53 of all 8 initial registers of all 34078719 items, sorted, to see whether any \
         two of these 272629752 values are the same. The machine does not matter."
    }

    fn samples(&self) -> Samples {
        Samples { what: "programs", usual: 100_000, most: 10_000_000 }
    }

    fn parts(&self) -> &'static [&'static str] {
        &["means", "sensitivity", "uniqueness"]
    }

    fn run(&self, settings: &Settings, progress: &mut dyn Progress) -> Result<Report, LabError> {
        let mut report = Report::new(self, settings);
        let samples = settings.samples(self.samples());
        if settings.wants("means") {
            report.tables.push(means(settings, samples, progress)?);
        }
        if settings.wants("sensitivity") {
            let sensitivity = sensitivity::measure(settings, samples, progress)?;
            report.tables.extend(sensitivity_tables(&sensitivity));
            report.pictures.extend(sensitivity_pictures(&sensitivity));
        }
        if settings.wants("uniqueness") {
            let unique = Uniqueness { bits: SENSITIVE, items: DATASET_ITEMS };
            let collisions = unique.collisions(settings.threads, progress)?;
            let mut table = Table::new(UNIQUE);
            let items = f64::from(unique.items);
            table.push(Row::new("items", items, 0).published(34_078_719.0));
            table.push(
                Row::new("equal values of bits 3 to 53", collisions as f64, 0).published(0.0),
            );
            report.tables.push(table);
        }
        Ok(report)
    }
}

/// A seed of the generator, for each sample another one.
fn generator(seed: u64, index: u64) -> BlakeGenerator {
    BlakeGenerator::new(&[seed.to_le_bytes(), index.to_le_bytes()].concat())
}

fn means(
    settings: &Settings,
    samples: u64,
    progress: &mut dyn Progress,
) -> Result<Table, LabError> {
    let sample = |(): &mut (), index: u64| {
        let (mut statistics, mut schedule) =
            (SuperscalarStatistics::default(), Schedule::default());
        let program = generate_traced(&mut generator(settings.seed, index), &mut schedule);
        statistics.add(&program, &schedule);
        let one = statistics.summary();
        Ok([
            one.instructions,
            one.multiplications,
            one.chain,
            one.latency,
            one.macro_ops,
            one.code_size,
        ])
    };
    let all = parallel::map("means", samples, settings.threads, progress, || Ok(()), sample)?;
    let mean = |at: usize| all.iter().map(|one| one[at]).sum::<f64>() / samples as f64;
    let why = "the document has round numbers";
    let mut table = Table::new(MEANS);
    table.push(Row::new("instructions", mean(0), 1).published(450.0).why(why));
    table.push(Row::new("multiplications", mean(1), 1).published(155.0).why(why));
    table.push(
        Row::new("longest chain of dependent instructions", mean(2), 1).published(95.0).why(why),
    );
    table.push(Row::new("latency", mean(3), 1).unit("cycles").published(170.0).why(
        "170 is the target, at which the generator stops; what was issued last ends some cycles later",
    ));
    table.push(Row::new("macro-ops", mean(4), 1));
    table.push(Row::new("macro-ops per cycle", mean(4) / mean(3), 2));
    table.push(Row::new("x86 code", mean(5), 0).unit("bytes"));
    Ok(table)
}

/// The bits by what the document says of them.
const RANGES: [(&str, std::ops::Range<usize>); 3] =
    [("bits 0 to 2", 0..3), ("bits 3 to 53", 3..54), ("bits 54 to 63", 54..64)];

fn sensitivity_tables(sensitivity: &[Sensitivity; 64]) -> [Table; 2] {
    let mut changed = Table::new(CHANGED);
    let mut insensitive = Table::new(INSENSITIVE);
    for (name, range) in RANGES {
        let mean = |figure: fn(&Sensitivity) -> f64| {
            sensitivity[range.clone()].iter().map(figure).sum::<f64>() / range.len() as f64
        };
        changed.push(Row::new(name, mean(|bit| bit.changed), 1).unit("bits"));
        insensitive.push(Row::new(name, 100.0 * mean(|bit| bit.insensitive), 2).unit("%"));
    }
    [changed, insensitive]
}

fn sensitivity_pictures(sensitivity: &[Sensitivity; 64]) -> [Picture; 2] {
    let points = |figure: fn(&Sensitivity) -> f64| {
        let ys = sensitivity.iter().map(figure);
        vec![Series::new("", Shape::Bars, (0..).map(f64::from).zip(ys))]
    };
    let bit = "bit of an input register";
    [
        Picture::plot("changed", CHANGED, bit, "bits", points(|bit| bit.changed)),
        Picture::plot(
            "insensitive",
            "Programs that hardly feel a bit of an input register",
            bit,
            "% of programs",
            points(|bit| 100.0 * bit.insensitive),
        ),
    ]
}

#[cfg(test)]
mod tests;
