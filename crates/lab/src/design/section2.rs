//! Chapter 2: what programs do.

mod machine_code;
mod pictures;
mod tables;

use randomx::{KeyMemory, Version, trace};
use randomx_figures::{
    AccessSummary, BranchSummary, FloatSummary, HashFigures, WriteMap, WriteMapSummary,
};

use crate::report::Report;
use crate::{Experiment, LabError, Progress, Samples, Settings, key, parallel};

/// Experiment `section2`.
pub struct Section2;

impl Experiment for Section2 {
    fn name(&self) -> &'static str {
        "section2"
    }

    fn section(&self) -> &'static str {
        "RandomX design, chapter 2"
    }

    fn about(&self) -> &'static str {
        "trace: hashes of v1 and v2 are interpreted, and what their programs do is counted: reads and writes, \
         the parts of the scratchpad that are overwritten, branches, and the values of floating point \
         registers at the end of each iteration. x86: programs are compiled, and the machine instructions of \
         each are counted by a disassembler. The machine does not matter to the first, and to the second only \
         by its extensions."
    }

    fn samples(&self) -> Samples {
        Samples { what: "hashes of each version", usual: 256, most: 65_536 }
    }

    fn parts(&self) -> &'static [&'static str] {
        &["trace", "x86"]
    }

    fn run(&self, settings: &Settings, progress: &mut dyn Progress) -> Result<Report, LabError> {
        let mut report = Report::new(self, settings);
        let samples = settings.samples(self.samples());
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

/// What the hashes of a version did.
struct Traced {
    accesses: Vec<AccessSummary>,
    maps: Vec<WriteMapSummary>,
    branches: Vec<BranchSummary>,
    /// For each branch that programs list, the instructions that it repeats.
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
            Ok((figures, map.summary()))
        };
        let stage = format!("hashes of {version}");
        let hashes = parallel::map(&stage, samples, threads, progress, || Ok(()), hash)?;
        Ok(Traced {
            accesses: hashes.iter().map(|(figures, _)| figures.accesses.summary()).collect(),
            maps: hashes.iter().map(|(_, map)| *map).collect(),
            branches: hashes.iter().map(|(figures, _)| figures.branches.summary()).collect(),
            lengths: hashes
                .iter()
                .flat_map(|(figures, _)| figures.branches.lengths())
                .copied()
                .collect(),
            floats: hashes.iter().map(|(figures, _)| figures.floats.summary()).collect(),
        })
    }
}

/// What one hash writes.
fn write_map(key: &KeyMemory) -> Result<WriteMap, LabError> {
    let mut map = WriteMap::default();
    trace::hash(key.clone(), Version::V1, &0u64.to_le_bytes(), &mut map)?;
    Ok(map)
}

/// The mean of what is counted for each hash, of which all have as many programs and iterations.
fn mean<T>(hashes: &[T], figure: impl Fn(&T) -> f64) -> f64 {
    hashes.iter().map(figure).sum::<f64>() / hashes.len().max(1) as f64
}

/// A part of a whole that are counted for each hash.
fn ratio<T>(hashes: &[T], part: impl Fn(&T) -> u64, whole: impl Fn(&T) -> u64) -> f64 {
    let sum = |of: &dyn Fn(&T) -> u64| hashes.iter().map(of).sum::<u64>() as f64;
    sum(&part) / sum(&whole)
}

#[cfg(test)]
mod tests;
