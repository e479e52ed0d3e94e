//! `randomx-lab rdrand`: how many numbers the processor's own generator gives.

use std::time::Duration;

use super::{Drng, DrngError, Instruction, Throughput, Width};
use crate::cycles::{cycles_per_second, median};
use crate::{
    Experiment, LabError, Picture, Progress, Report, Row, Samples, Series, Settings, Shape, Stream,
    Table,
};

/// Reads of the processor's generator, by width and threads.
pub struct Reads;

/// Measurements of each row.
const ROUNDS: usize = 3;

impl Experiment for Reads {
    fn name(&self) -> &'static str {
        "rdrand"
    }

    fn section(&self) -> &'static str {
        "Intel rdrand instruction revisited (C. I. King, 13 October 2012)"
    }

    fn about(&self) -> &'static str {
        "Million reads a second of the processor's own random numbers, `rdrand` and `rdseed`, of 16, 32 \
         and 64 bits, with one thread up to `--threads`; medians of three measurements. Published for a \
         Core i5-3210M and an i7-3770, where one generator serves all cores. Attempts that give no \
         number are counted, not repeated without end. `--raw` is the stream for batteries of tests."
    }

    fn samples(&self) -> Samples {
        Samples { what: "milliseconds of each measurement", usual: 200, most: 60_000 }
    }

    fn parts(&self) -> &'static [&'static str] {
        &["rdrand", "rdseed"]
    }

    fn streams(&self) -> &'static [&'static str] {
        &["rdrand", "rdseed"]
    }

    fn run(&self, settings: &Settings, progress: &mut dyn Progress) -> Result<Report, LabError> {
        let mut report = Report::new(self, settings);
        let time = Duration::from_millis(settings.samples(self.samples()));
        let mut series = Vec::new();
        for instruction in Instruction::ALL {
            if !settings.wants(instruction.name()) {
                continue;
            }
            let drng = match Drng::detect(instruction) {
                Ok(drng) => drng,
                // Many processors have the first alone, so the second is not asked for in vain.
                Err(error @ DrngError::Missing(Instruction::Rdseed))
                    if settings.only.is_empty() =>
                {
                    report.notes.push(format!("Left out: {error}."));
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            let (table, points) = measure(drng, settings.threads, time, progress)?;
            report.tables.push(table);
            series.push(Series::new(instruction.name(), Shape::Line, points));
        }
        let title = "Reads of 64 bits by threads";
        let picture = Picture::plot("threads", title, "threads", "million reads a second", series);
        report.pictures.push(picture);
        Ok(report)
    }

    fn stream(&self, name: &str, _: u64) -> Result<Stream, LabError> {
        let instruction = Instruction::ALL.into_iter().find(|one| one.name() == name);
        let known = || self.streams().join(", ");
        let instruction = instruction
            .ok_or_else(|| LabError::Stream { name: name.to_owned(), known: known() })?;
        Ok(Box::new(Drng::detect(instruction)?))
    }
}

/// What threads count up to, and how the reads of 64 bits go with them.
fn measure(
    drng: Drng,
    threads: usize,
    time: Duration,
    progress: &mut dyn Progress,
) -> Result<(Table, Vec<(f64, f64)>), LabError> {
    let name = drng.instruction.name();
    let columns = ["Gbit/s", "cycles per read of a thread", "without a number, %"];
    let mut table = Table::new(name).columns(&columns);
    let mut points = Vec::new();
    let (mut done, of) = (0, (Width::ALL.len() * threads) as u64);
    let mut peak = 0.0f64;
    for width in Width::ALL {
        for threads in 1..=threads {
            let reads = repeated(drng, width, threads, time)?;
            let (millions, bits) = (reads.reads / 1e6, f64::from(width.bits()));
            let gigabits = millions * bits / 1e3;
            let cycles = cycles_per_second() * threads as f64 / reads.reads;
            let noun = if threads == 1 { "thread" } else { "threads" };
            let row = Row::new(format!("{bits} bits, {threads} {noun}"), millions, 2)
                .unit("million reads/s")
                .also([Some(gigabits), Some(cycles), Some(100.0 * reads.refused)]);
            table.push(row);
            if width == Width::Bits64 {
                points.push((threads as f64, millions));
                peak = peak.max(millions);
            }
            done += 1;
            progress.at(name, done, of);
        }
    }
    let why = "Ivy Bridge's generator answered its few cores in some ten cycles; it is far away from the \
               cores of a server, and a read takes hundreds";
    let published = drng.instruction == Instruction::Rdrand;
    for (what, unit, here, figure) in [
        ("most reads of 64 bits", "million reads/s", peak, 99.6),
        ("most bits", "Gbit/s", peak * 64.0 / 1e3, 6.374),
    ] {
        let row = Row::new(what, here, 2).unit(unit);
        table.push(if published { row.published(figure).why(why) } else { row });
    }
    Ok((table, points))
}

fn repeated(
    drng: Drng,
    width: Width,
    threads: usize,
    time: Duration,
) -> Result<Throughput, DrngError> {
    let mut all = Vec::new();
    for _ in 0..ROUNDS {
        all.push(drng.throughput(width, threads, time)?);
    }
    let of = |figure: fn(&Throughput) -> f64| median(&all.iter().map(figure).collect::<Vec<_>>());
    Ok(Throughput { reads: of(|one| one.reads), refused: of(|one| one.refused) })
}

impl From<DrngError> for LabError {
    fn from(error: DrngError) -> LabError {
        match error {
            DrngError::Missing(instruction) => LabError::Lacking(format!(
                "the instruction `{instruction}`, or its system hides it"
            )),
            other => LabError::Program { program: "rdrand", problem: other.to_string() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A figure for each width and number of threads, or a sentence that says what is missing.
    #[test]
    fn a_small_run_measures_or_says_what_is_missing() {
        let settings = Settings { samples: Some(2), threads: 2, ..Settings::default() };
        match crate::run(&Reads, &settings, &mut ()) {
            Ok(report) => {
                assert!(report.unexplained().is_empty(), "{:?}", report.unexplained());
                assert_eq!(report.tables[0].rows.len(), 3 * 2 + 2);
                for row in report.tables.iter().flat_map(|table| &table.rows) {
                    assert!(row.here > 0.001, "{row:?}");
                }
            }
            Err(error) => {
                let missing = Drng::detect(Instruction::Rdrand).err();
                assert_eq!(missing, Some(DrngError::Missing(Instruction::Rdrand)));
                assert!(error.to_string().contains("rdrand"), "{error}");
            }
        }
    }
}
