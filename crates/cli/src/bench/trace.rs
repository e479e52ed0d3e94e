//! The time of each phase of a hash.

use std::time::{Duration, Instant};

use randomx::{Phase, PhaseTimes, Vm};

use super::{
    hashing,
    report::Row,
    subject::{Hashing, Subject, Unit},
};

/// Hashes for a given time. Returns a row for each phase with its time per hash.
pub(crate) fn rows(vm: &mut Vm, how: &Hashing, batch: usize, time: Duration) -> Vec<Row> {
    let start = Instant::now();
    let mut phases = PhaseTimes::new(|| start.elapsed().as_secs_f64());
    let mut hashes = 0;
    while hashes == 0 || start.elapsed() < time {
        vm.hash_many_observed(&hashing::inputs(hashes as u32, batch), &mut phases);
        hashes += batch;
    }
    let subject = Subject::Trace(*how);
    // With a dataset no items are computed.
    let passed = Phase::ALL.into_iter().zip(phases.times()).filter(|&(_, seconds)| seconds > 0.0);
    let row = |(phase, seconds)| {
        let microseconds = seconds * 1e6 / hashes as f64;
        Row::new(format!("{subject}: {}", label(phase)), Unit::Microseconds, Some(microseconds))
    };
    passed.map(row).collect()
}

fn label(phase: Phase) -> &'static str {
    match phase {
        Phase::Fill => "fill the scratchpad",
        Phase::Generate => "generate programs",
        Phase::Compile => "compile programs",
        Phase::Execute => "run programs",
        Phase::Items => "compute dataset items",
        Phase::Finish => "hash the scratchpad",
    }
}
