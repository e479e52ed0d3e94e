//! The time of each phase of a hash.

use std::time::{Duration, Instant};

use randomx::{Observer, Phase, Vm};

use super::{
    hashing,
    report::Row,
    subject::{Hashing, Subject, Unit},
};

/// Hashes for a given time. Returns a row for each phase with its time per hash.
pub(crate) fn rows(vm: &mut Vm, how: &Hashing, batch: usize, time: Duration) -> Vec<Row> {
    let mut phases = Phases::default();
    let mut hashes = 0;
    let start = Instant::now();
    while hashes == 0 || start.elapsed() < time {
        vm.hash_many_observed(&hashing::inputs(hashes as u32, batch), &mut phases);
        hashes += batch;
    }
    let subject = Subject::Trace(*how);
    // With a dataset no items are computed.
    let passed = Phase::ALL.into_iter().filter(|&phase| !phases.time(phase).is_zero());
    let row = |phase| {
        let microseconds = phases.time(phase).as_secs_f64() * 1e6 / hashes as f64;
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

/// Sums the time of each phase.
#[derive(Default)]
struct Phases {
    times: [Duration; Phase::ALL.len()],
    current: Option<(Phase, Instant)>,
}

impl Phases {
    fn time(&self, phase: Phase) -> Duration {
        self.times[phase as usize]
    }
}

impl Observer for Phases {
    fn enter(&mut self, phase: Phase) {
        let now = Instant::now();
        if let Some((last, since)) = self.current.replace((phase, now)) {
            self.times[last as usize] += now - since;
        }
    }

    fn leave(&mut self) {
        if let Some((last, since)) = self.current.take() {
            self.times[last as usize] += since.elapsed();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread::sleep;

    use super::*;

    #[test]
    fn the_times_of_a_phase_are_summed() {
        let mut phases = Phases::default();
        let work = || sleep(Duration::from_millis(2));
        for phase in [Phase::Fill, Phase::Execute, Phase::Items, Phase::Execute] {
            phases.enter(phase);
            work();
        }
        phases.leave();
        work();
        phases.enter(Phase::Fill);
        phases.leave();
        let at_least = |phase, milliseconds| {
            let time = phases.time(phase);
            assert!(time >= Duration::from_millis(milliseconds), "{phase:?}: {time:?}");
        };
        at_least(Phase::Fill, 2);
        at_least(Phase::Items, 2);
        at_least(Phase::Execute, 4);
        assert_eq!(phases.time(Phase::Finish), Duration::ZERO);
    }
}
