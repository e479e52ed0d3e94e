//! The time of programs and hashes, by phase (appendix C).

use randomx::{Observer, Phase};

use crate::statistics::Statistics;

/// Measures hashes, as the observer of a VM with one lane.
///
/// A program's time covers generating, compiling and executing it and the Blake2b that follows, as
/// in the document. Without a dataset, the time of its items is counted separately. The clock
/// returns milliseconds.
#[derive(Clone, Debug)]
pub struct Runtime<C> {
    clock: C,
    now: Option<(Phase, f64)>,
    program: Option<ProgramTime>,
    began: f64,
    phases: [f64; Phase::ALL.len()],
    programs: Vec<f64>,
    hashes: Vec<f64>,
}

#[derive(Clone, Copy, Debug)]
struct ProgramTime {
    began: f64,
    items: f64,
}

/// Times in milliseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct RuntimeSummary {
    /// The mean time of each phase in a hash.
    pub phases: Vec<(Phase, f64)>,
    /// Times of programs, without their items; `None` before the first ends.
    pub programs: Option<Statistics>,
    /// Times of whole hashes.
    pub hashes: Option<Statistics>,
}

impl<C: FnMut() -> f64> Runtime<C> {
    /// Starts measuring with a clock.
    pub fn new(clock: C) -> Runtime<C> {
        let (phases, programs, hashes) = ([0.0; Phase::ALL.len()], Vec::new(), Vec::new());
        Runtime { clock, now: None, program: None, began: 0.0, phases, programs, hashes }
    }

    /// Returns the time of each program, without its items.
    pub fn programs(&self) -> &[f64] {
        &self.programs
    }

    /// Returns the time of each hash.
    pub fn hashes(&self) -> &[f64] {
        &self.hashes
    }

    /// Returns the distribution of the times.
    pub fn summary(&self) -> RuntimeSummary {
        let count = self.hashes.len().max(1) as f64;
        let time = |phase: Phase| (phase, self.phases[phase as usize] / count);
        RuntimeSummary {
            phases: Phase::ALL.map(time).to_vec(),
            programs: Statistics::of(&self.programs),
            hashes: Statistics::of(&self.hashes),
        }
    }

    /// Ends the previous phase and returns the time.
    fn end_phase(&mut self) -> f64 {
        let now = (self.clock)();
        if let Some((phase, since)) = self.now.take() {
            self.phases[phase as usize] += now - since;
            if let (Phase::Items, Some(program)) = (phase, &mut self.program) {
                program.items += now - since;
            }
        }
        now
    }

    fn end_program(&mut self, now: f64) {
        if let Some(ProgramTime { began, items }) = self.program.take() {
            self.programs.push(now - began - items);
        }
    }
}

impl<C: FnMut() -> f64> Observer for Runtime<C> {
    fn enter(&mut self, phase: Phase) {
        let now = self.end_phase();
        self.now = Some((phase, now));
        match phase {
            Phase::Fill => self.began = now,
            Phase::Generate => {
                self.end_program(now);
                self.program = Some(ProgramTime { began: now, items: 0.0 });
            }
            Phase::Finish => self.end_program(now),
            Phase::Compile | Phase::Execute | Phase::Items => {}
        }
    }

    fn leave(&mut self) {
        let now = self.end_phase();
        self.hashes.push(now - self.began);
    }
}
