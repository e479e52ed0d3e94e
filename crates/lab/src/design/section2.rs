//! Chapter 2: what programs do.

mod machine_code;
mod pictures;
mod tables;

use randomx::{KeyMemory, Version, trace};
use randomx_figures::{
    AccessSummary, BranchSummary, FloatSummary, HashFigures, WriteMap, WriteMapSummary,
};

use crate::report::Report;
use crate::{Description, Experiment, LabError, Progress, Samples, Settings, key, parallel};

/// Experiment `section2`.
pub struct Section2;

static DESCRIPTION: Description = Description {
    name: "section2",
    section: "RandomX design, chapter 2",
    about: "Chapter 2 states how often programs read, write and branch, and which values they compute. \
     Part `trace` interprets hashes of v1 and v2 and counts their reads and writes, the parts of \
     the scratchpad that they overwrite, their branches, and the values of the floating point \
     registers at the end of each iteration. Part `x86` compiles programs and counts the machine \
     instructions of each instruction with a disassembler. The figures of `trace` do not depend on \
     the machine; those of `x86` depend on the processor's extensions.",
    samples: Samples { what: "hashes of each version", usual: 256, least: 1, most: 65_536 },
    parts: &["trace", "x86"],
    streams: &[],
};

impl Experiment for Section2 {
    fn description(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn run(&self, settings: &Settings, progress: &mut dyn Progress) -> Result<Report, LabError> {
        let mut report = Report::new(&DESCRIPTION, settings);
        let samples = settings.samples(DESCRIPTION.samples);
        if settings.wants("trace") {
            let items = key::items(settings.seed, progress)?;
            let of = |version, progress: &mut dyn Progress| {
                let key = KeyMemory::Items(items.clone());
                Traced::new(&key, version, samples, settings.threads, progress)
            };
            let v1 = of(Version::V1, progress)?;
            let v2 = of(Version::V2, progress)?;
            report.tables.extend(tables::all(&v1, &v2));
            let map = write_map(&KeyMemory::Items(items.clone()))?;
            report.pictures.extend(pictures::all(&v1, &v2, &map));
        }
        if settings.wants("x86") {
            machine_code::add(&mut report, settings.seed, samples)?;
        }
        Ok(report)
    }
}

/// Figures of one version's hashes.
#[derive(Default)]
struct Traced {
    accesses: Vec<AccessSummary>,
    maps: Vec<WriteMapSummary>,
    branches: Vec<BranchSummary>,
    /// The number of instructions that each branch repeats.
    lengths: Vec<u64>,
    floats: Vec<FloatSummary>,
}

impl Traced {
    fn new(
        key: &KeyMemory,
        version: Version,
        samples: u64,
        threads: usize,
        progress: &mut dyn Progress,
    ) -> Result<Traced, LabError> {
        let hash = |(): &mut (), index: u64| {
            let (mut figures, mut map) = (HashFigures::default(), WriteMap::default());
            let input = index.to_le_bytes();
            trace::hash(key.clone(), version, &input, &mut (&mut figures, &mut map))?;
            // The tracers of all hashes would take several times as much memory.
            let HashFigures { accesses, branches, floats, .. } = figures;
            let lengths = branches.lengths().to_vec();
            Ok((accesses.summary(), map.summary(), branches.summary(), lengths, floats.summary()))
        };
        let stage = format!("hashes of {version}");
        let hashes = parallel::map(&stage, samples, threads, progress, || Ok(()), hash)?;
        let mut traced = Traced::default();
        for (accesses, map, branches, lengths, floats) in hashes {
            traced.accesses.push(accesses);
            traced.maps.push(map);
            traced.branches.push(branches);
            traced.lengths.extend(lengths);
            traced.floats.push(floats);
        }
        Ok(traced)
    }
}

/// Returns the parts of the scratchpad that one hash writes.
fn write_map(key: &KeyMemory) -> Result<WriteMap, LabError> {
    let mut map = WriteMap::default();
    trace::hash(key.clone(), Version::V1, &0u64.to_le_bytes(), &mut map)?;
    Ok(map)
}

/// The mean over hashes, which all have the same number of programs and iterations.
fn mean<T>(hashes: &[T], figure: impl Fn(&T) -> f64) -> f64 {
    hashes.iter().map(figure).sum::<f64>() / hashes.len().max(1) as f64
}

/// The ratio of two counts, summed over hashes.
fn ratio<T>(hashes: &[T], part: impl Fn(&T) -> u64, whole: impl Fn(&T) -> u64) -> f64 {
    let sum = |of: &dyn Fn(&T) -> u64| hashes.iter().map(of).sum::<u64>() as f64;
    sum(&part) / sum(&whole)
}

#[cfg(test)]
mod tests;
