//! Appendix C: run times of programs and hashes.

use std::cell::RefCell;
use std::sync::Arc;

use randomx::{KeyMemory, Phase, Version, Vm, VmOptions};
use randomx_figures::{Histogram, Runtime as Times, Statistics};

use crate::report::{Picture, Report, Row, Series, Shape, Table};
use crate::{Description, Experiment, LabError, Progress, Samples, Settings, key};

const MACHINE: &str = "the document measured an AMD Ryzen 7 1700 at 3.0 GHz";
const SOFTWARE: &str = "another processor and another JIT compiler";

/// Experiment `runtime`.
pub struct Runtime;

static DESCRIPTION: Description = Description {
    name: "runtime",
    section: "RandomX design, 1.2 and Appendix C",
    about: "Appendix C gives the run times of hashes and programs, and how much a miner would gain by \
     rejecting slow programs. Here one thread computes one hash after another and times them: in \
     light mode from a cache of 256 MiB, and in fast mode with a dataset of 2080 MiB, which all \
     threads compute first. In turns with these it computes the hashes again and times their phases. \
     In light mode these include the clock, which is read before and after each dataset item. On \
     Linux the times are the thread's own processor time. A program's time includes generating, \
     compiling and executing it and the Blake2b hash that follows. The times depend on the machine \
     and vary from run to run; the shape of the distribution is a property of RandomX.",
    samples: Samples {
        what: "hashes of each mode and version",
        usual: 2000,
        least: 1,
        most: 1_000_000,
    },
    parts: &["fast", "light"],
    streams: &[],
};

impl Experiment for Runtime {
    fn description(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn run(&self, settings: &Settings, progress: &mut dyn Progress) -> Result<Report, LabError> {
        let mut report = Report::new(&DESCRIPTION, settings);
        let samples = settings.samples(DESCRIPTION.samples);
        if settings.wants("light") {
            let key = KeyMemory::Items(key::items(settings.seed, progress)?);
            let times = Version::ALL
                .map(|version| measure(&key, version, samples, "light", clock(), progress));
            let [v1, v2] = times;
            light(&mut report, &[v1?, v2?]);
        }
        if settings.wants("fast") {
            let dataset = key::dataset(settings.seed, settings.threads, progress)?;
            let key = KeyMemory::Dataset(Arc::clone(&dataset));
            let times = Version::ALL
                .map(|version| measure(&key, version, samples, "fast", clock(), progress));
            let [v1, v2] = times;
            fast(&mut report, &[v1?, v2?]);
        }
        Ok(report)
    }
}

/// The times of hashes, in milliseconds. Phases and programs are those of each hash's second computation.
struct Measured {
    phases: Vec<(Phase, f64)>,
    programs: Vec<f64>,
    hashes: Vec<f64>,
}

impl Measured {
    fn phase(&self, phase: Phase) -> f64 {
        self.phases.iter().find(|(of, _)| *of == phase).map_or(0.0, |(_, time)| *time)
    }

    fn hash(&self) -> f64 {
        mean(&self.hashes)
    }

    /// The time of all phases, which is that of a hash in its second computation.
    fn all_phases(&self) -> f64 {
        self.phases.iter().map(|(_, time)| time).sum()
    }
}

fn measure(
    key: &KeyMemory,
    version: Version,
    samples: u64,
    mode: &str,
    clock: impl FnMut() -> f64,
    progress: &mut dyn Progress,
) -> Result<Measured, LabError> {
    let options = VmOptions { lanes: Some(1), ..VmOptions::default() };
    let mut vm = Vm::with_options(key.clone(), version, options)?;
    // Warms up the processor's caches.
    vm.hash(b"warm");
    let stage = format!("{mode} {version}");
    let clock = RefCell::new(clock);
    let now = || clock.borrow_mut()();
    let (mut hashes, mut times) = (Vec::new(), Times::new(now));
    // In turns, so that other work on the machine slows both down. A hash comes again much later, when the processor's
    // caches have lost its items.
    for index in 0..samples {
        progress.at(&stage, index, samples);
        let begin = now();
        vm.hash(&index.to_le_bytes());
        hashes.push(now() - begin);
        let other = (index + samples / 2) % samples;
        vm.hash_many_observed(&[other.to_le_bytes()], &mut times);
    }
    let phases = times.summary().phases;
    Ok(Measured { phases, programs: times.programs().to_vec(), hashes })
}

/// Milliseconds of this thread's processor time, so that other work on the machine does not count.
#[cfg(target_os = "linux")]
fn clock() -> impl FnMut() -> f64 {
    use rustix::time::{ClockId, clock_gettime};
    || {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 * 1e-6
    }
}

/// Milliseconds of elapsed time.
#[cfg(not(target_os = "linux"))]
fn clock() -> impl FnMut() -> f64 {
    let begin = std::time::Instant::now();
    move || begin.elapsed().as_secs_f64() * 1e3
}

fn fast(report: &mut Report, [v1, v2]: &[Measured; 2]) {
    let mut table = Table::new("Fast mode, 1 thread, one hash after another").columns(&["v2"]);
    let mut push = |name: &str, published, decimals, unit, figure: &dyn Fn(&Measured) -> f64| {
        let row = Row::new(name, figure(v1), decimals).unit(unit).also([Some(figure(v2))]);
        table.push(row.published(published).why(MACHINE));
    };
    push("hashes per second", 625.0, 0, "H/s", &|times| 1e3 / times.hash());
    push("one hash", 1600.0, 0, "µs", &|times| 1e3 * times.hash());
    push("executing 8 programs", 1480.0, 0, "µs", &|times| 1e3 * times.phase(Phase::Execute));
    push("filling the scratchpad", 45.0, 0, "µs", &|times| 1e3 * times.phase(Phase::Fill));
    push("hashing the scratchpad", 45.0, 0, "µs", &|times| 1e3 * times.phase(Phase::Finish));
    push("generating and compiling 8 programs", 30.0, 0, "µs", &|times| 1e3 * making(times));
    push("generating and compiling 1 program", 3.6, 1, "µs", &|times| 125.0 * making(times));
    push("time outside programs", 7.5, 1, "%", &|times| {
        100.0 * (1.0 - times.phase(Phase::Execute) / times.all_phases())
    });
    report.tables.push(table);

    let mut table = Table::new("Distribution of program run times").columns(&["v2"]);
    let gain = |times: &Measured| 100.0 * (gain_by_choosing(&times.programs) - 1.0);
    table.push(
        Row::new("gain from rejecting the slowest 25%", gain(v1), 1)
            .unit("%")
            .published(5.0)
            .also([Some(gain(v2))])
            .why(SOFTWARE),
    );
    let deviation = |times: &Measured| log_deviation(&times.programs);
    let row = Row::new("standard deviation of the logarithm", deviation(v1), 3);
    table.push(row.also([Some(deviation(v2))]));
    for (name, part) in [("median", 0.5), ("99th percentile", 0.99), ("99.9th percentile", 0.999)] {
        let quantile = |times: &Measured| 1e3 * quantile(&times.programs, part);
        table.push(Row::new(name, quantile(v1), 0).unit("µs").also([Some(quantile(v2))]));
    }
    report.tables.push(table);
    let micro = [v1, v2].map(|times| times.programs.iter().map(|time| 1e3 * time).collect());
    let title = "Run times of programs in fast mode";
    report.pictures.push(distribution("programs", title, "µs", micro));
}

fn light(report: &mut Report, [v1, v2]: &[Measured; 2]) {
    let mut table = Table::new("Light mode, 1 thread, one hash after another").columns(&["v2"]);
    let mut push = |name: &str, published: Option<f64>, figure: &dyn Fn(&Measured) -> f64| {
        let row = Row::new(name, figure(v1), 1).unit("ms").also([Some(figure(v2))]);
        table.push(match published {
            Some(published) => row.published(published).why(MACHINE),
            None => row,
        });
    };
    push("one hash", Some(14.8), &Measured::hash);
    push("computing dataset items", Some(13.2), &|times| times.phase(Phase::Items));
    push("executing 8 programs", None, &|times| times.phase(Phase::Execute));
    for (name, part) in [("median", 0.5), ("99th percentile", 0.99)] {
        push(name, None, &|times| quantile(&times.hashes, part));
    }
    report.tables.push(table);
    let times = [v1, v2].map(|times| times.hashes.clone());
    let title = "Run times of hashes in light mode";
    report.pictures.push(distribution("hashes", title, "ms", times));
}

fn making(times: &Measured) -> f64 {
    times.phase(Phase::Generate) + times.phase(Phase::Compile)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// How much faster programs are on average without the slowest quarter.
fn gain_by_choosing(times: &[f64]) -> f64 {
    let slow = quantile(times, 0.75);
    let fast: Vec<f64> = times.iter().copied().filter(|time| *time <= slow).collect();
    mean(times) / mean(&fast)
}

fn log_deviation(times: &[f64]) -> f64 {
    let logarithms: Vec<f64> = times.iter().map(|time| time.ln()).collect();
    Statistics::of(&logarithms).map_or(0.0, |statistics| statistics.deviation)
}

/// The value below which this share of the values lies.
fn quantile(values: &[f64], part: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().saturating_sub(1);
    sorted.get((part * last as f64).round() as usize).copied().unwrap_or(0.0)
}

/// A histogram of each version's times, up to the 99th percentile: a few interrupted runs would
/// otherwise squeeze all others into one bar.
fn distribution(name: &str, title: &str, unit: &str, times: [Vec<f64>; 2]) -> Picture {
    const BINS: usize = 60;
    let low = times.iter().map(|times| quantile(times, 0.0)).fold(f64::INFINITY, f64::min);
    let high = times.iter().map(|times| quantile(times, 0.99)).fold(low, f64::max);
    let series = times.iter().zip(Version::ALL).map(|(times, version)| {
        let mut histogram = Histogram::even(low, high.max(low * 1.01 + 1e-9), BINS);
        times.iter().for_each(|time| histogram.add(*time));
        let shares = histogram.shares();
        // The last share is that of all times beyond the last edge.
        let bins = histogram.edges().iter().zip(&shares[1..=BINS]);
        let points: Vec<(f64, f64)> = bins.map(|(edge, share)| (*edge, 100.0 * share)).collect();
        Series::new(&version.to_string(), Shape::Line, points)
    });
    Picture::plot(name, title, unit, "% of all", series.collect())
}

#[cfg(test)]
mod tests;
