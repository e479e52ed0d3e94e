//! `randomx-lab rdrand`: the throughput of the processor's random number generator.

use std::time::Duration;

use super::{Drng, DrngError, Instruction, Throughput, Width};
use crate::cycles::median;
use crate::{
    Description, Experiment, LabError, Picture, Progress, Report, Row, Samples, Series, Settings,
    Shape, Stream, Table,
};

/// Reads of the processor's generator, by width and threads.
pub struct Reads;

/// Measurements per row.
const ROUNDS: usize = 3;

static DESCRIPTION: Description = Description {
    name: "rdrand",
    section: "Intel rdrand instruction revisited (C. I. King, 13 October 2012)",
    about: "The article measures how fast a processor's random number generator can be read. The \
     published figures are from a Core i5-3210M and a Core i7-3770, where one generator serves all \
     cores. The figures here are millions of reads per second with the instructions `rdrand` and \
     `rdseed`, of 16, 32 and 64 bits, on 1 thread up to `--threads`; each is the median of three \
     measurements. Reads that return no number are counted and not repeated. `--raw` writes the \
     numbers as a stream for statistical tests.",
    samples: Samples {
        what: "milliseconds of each measurement",
        usual: 200,
        least: 1,
        most: 60_000,
    },
    parts: &["rdrand", "rdseed"],
    streams: &["rdrand", "rdseed"],
};

impl Experiment for Reads {
    fn description(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn run(&self, settings: &Settings, progress: &mut dyn Progress) -> Result<Report, LabError> {
        let mut report = Report::new(&DESCRIPTION, settings);
        let time = Duration::from_millis(settings.samples(DESCRIPTION.samples));
        let mut series = Vec::new();
        for instruction in Instruction::ALL {
            if !settings.wants(instruction.name()) {
                continue;
            }
            let drng = match Drng::detect(instruction) {
                Ok(drng) => drng,
                // Many processors have only `rdrand`, so a missing `rdseed` is no error unless it was asked for.
                Err(error @ DrngError::Missing(Instruction::Rdseed))
                    if settings.only.is_empty() =>
                {
                    report.notes.push(format!("Skipped: {error}."));
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            let (table, points) = measure(drng, settings.threads, time, progress)?;
            report.tables.push(table);
            series.push(Series::new(instruction.name(), Shape::Line, points));
        }
        let title = "Reads of 64 bits by number of threads";
        let picture =
            Picture::plot("threads", title, "threads", "million reads per second", series);
        report.pictures.push(picture);
        Ok(report)
    }

    fn stream(&self, name: &str, _: u64) -> Result<Stream, LabError> {
        let instruction = Instruction::ALL.into_iter().find(|one| one.name() == name);
        let instruction = instruction.ok_or_else(|| DESCRIPTION.no_stream(name))?;
        Ok(Box::new(Drng::detect(instruction)?))
    }
}

/// Measures all widths on 1 to `threads` threads; returns the table, and the points for 64 bits.
fn measure(
    drng: Drng,
    threads: usize,
    time: Duration,
    progress: &mut dyn Progress,
) -> Result<(Table, Vec<(f64, f64)>), LabError> {
    let name = drng.instruction.name();
    let columns = ["Gbit/s", "cycles per read and thread", "failed attempts, %"];
    let mut table = Table::new(name).columns(&columns);
    let mut points = Vec::new();
    let (mut done, of) = (0, (Width::ALL.len() * threads) as u64);
    let mut peak = 0.0f64;
    for width in Width::ALL {
        for threads in 1..=threads {
            let reads = repeated(drng, width, threads, time)?;
            let (millions, bits) = (reads.reads / 1e6, f64::from(width.bits()));
            let gigabits = millions * bits / 1e3;
            let noun = if threads == 1 { "thread" } else { "threads" };
            let row = Row::new(format!("{bits} bits, {threads} {noun}"), millions, 2)
                .unit("million reads/s")
                .also([Some(gigabits), Some(reads.cycles), Some(100.0 * reads.failed)]);
            table.push(row);
            if width == Width::Bits64 {
                points.push((threads as f64, millions));
                peak = peak.max(millions);
            }
            done += 1;
            progress.at(name, done, of);
        }
    }
    let why = "Ivy Bridge's generator answered its few cores in some ten cycles; a server's generator is \
               far from its cores, and a read takes hundreds of cycles";
    let published = drng.instruction == Instruction::Rdrand;
    for (what, unit, here, figure) in [
        ("highest rate of reads of 64 bits", "million reads/s", peak, 99.6),
        ("highest rate of bits", "Gbit/s", peak * 64.0 / 1e3, 6.374),
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
    Ok(Throughput {
        reads: of(|one| one.reads),
        cycles: of(|one| one.cycles),
        failed: of(|one| one.failed),
    })
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

    /// There is a figure for each width and number of threads, or the error names the missing instruction.
    #[test]
    fn a_small_run_measures_or_names_the_missing_instruction() {
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
