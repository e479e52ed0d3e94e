//! Appendix E: SuperscalarHash.

mod sensitivity;
mod uniqueness;

use randomx::blake_generator::BlakeGenerator;
use randomx::params::DATASET_ITEMS;
use randomx::superscalar::generate_traced;
use randomx_figures::{Schedule, SuperscalarStatistics};

use crate::report::{Picture, Report, Row, Series, Shape, Table};
use crate::{Description, Experiment, LabError, Progress, Samples, Settings, parallel};

use sensitivity::Sensitivity;
use uniqueness::{SENSITIVE, Uniqueness};

const MEANS: &str = "Means over programs of SuperscalarHash";
const CHANGED: &str = "Bits of the 512-bit result that change with one input bit";
const INSENSITIVE: &str =
    "Programs in which one input bit changes fewer than 192 or more than 320 bits";
const UNIQUE: &str = "Initial registers of items";

/// Experiment `superscalar`.
pub struct Superscalar;

static DESCRIPTION: Description = Description {
    name: "superscalar",
    section: "RandomX design, 3.4 and Appendix E",
    about: "SuperscalarHash computes the dataset. The document states how long its programs are, which \
     bits of their input they are most sensitive to, and that the items' initial registers are \
     unique in those bits. Part `means` averages over random programs: their instructions, and the \
     cycles that the specification's reference processor takes, from the generator's trace. Part \
     `sensitivity` flips each bit of one input register and counts the bits of the result that \
     change. Part `uniqueness` sorts bits 3 to 53 of all 8 initial registers of all 34078719 items \
     and looks for equal values among these 272629752. The figures do not depend on the machine.",
    samples: Samples { what: "programs", usual: 100_000, least: 1, most: 10_000_000 },
    parts: &["means", "sensitivity", "uniqueness"],
    streams: &[],
};

impl Experiment for Superscalar {
    fn description(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn run(&self, settings: &Settings, progress: &mut dyn Progress) -> Result<Report, LabError> {
        let mut report = Report::new(&DESCRIPTION, settings);
        let samples = settings.samples(DESCRIPTION.samples);
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

/// Returns the generator of sample `index`.
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
    let why = "the document gives round numbers";
    let mut table = Table::new(MEANS);
    table.push(Row::new("instructions", mean(0), 1).published(450.0).why(why));
    table.push(Row::new("multiplications", mean(1), 1).published(155.0).why(why));
    table.push(
        Row::new("longest chain of dependent instructions", mean(2), 1).published(95.0).why(why),
    );
    table.push(Row::new("latency", mean(3), 1).unit("cycles").published(170.0).why(
        "the generator stops at its target of 170; the last instructions issued end some cycles later",
    ));
    table.push(Row::new("macro-ops", mean(4), 1));
    table.push(Row::new("macro-ops per cycle", mean(4) / mean(3), 2));
    table.push(Row::new("x86 code", mean(5), 0).unit("bytes"));
    Ok(table)
}

/// The ranges of bits that the document distinguishes.
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
            "Programs that are insensitive to one input bit",
            bit,
            "% of programs",
            points(|bit| 100.0 * bit.insensitive),
        ),
    ]
}

#[cfg(test)]
mod tests;
