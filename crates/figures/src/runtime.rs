//! How long programs and hashes take, and what with (appendix C).

use randomx::{Observer, Phase};

use crate::statistics::Statistics;

/// Measures the hashes of a VM of one lane, to which it is given as its observer.
///
/// A program's time is that of generating it, of bringing it into the form that runs, of running it and
/// of the Blake2b that follows, as the document has it; without a dataset that of its items is counted
/// apart. The clock tells milliseconds.
#[derive(Clone, Debug)]
pub struct Runtime<C> {
    clock: C,
    now: Option<(Phase, f64)>,
    program: Option<Running>,
    began: f64,
    phases: [f64; Phase::ALL.len()],
    programs: Vec<f64>,
    hashes: Vec<f64>,
}

#[derive(Clone, Copy, Debug)]
struct Running {
    began: f64,
    items: f64,
}

/// Times in milliseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct RuntimeSummary {
    /// For each phase its time, of a hash in the mean.
    pub phases: Vec<(Phase, f64)>,
    /// Of programs, without their items; `None` before the first is done.
    pub programs: Option<Statistics>,
    /// Of hashes, with all that they need.
    pub hashes: Option<Statistics>,
}

impl<C: FnMut() -> f64> Runtime<C> {
    /// Measures with a clock.
    pub fn new(clock: C) -> Runtime<C> {
        let (phases, programs, hashes) = ([0.0; Phase::ALL.len()], Vec::new(), Vec::new());
        Runtime { clock, now: None, program: None, began: 0.0, phases, programs, hashes }
    }

    /// The time of each program, without its items.
    pub fn programs(&self) -> &[f64] {
        &self.programs
    }

    /// The time of each hash.
    pub fn hashes(&self) -> &[f64] {
        &self.hashes
    }

    /// How the times are spread.
    pub fn summary(&self) -> RuntimeSummary {
        let count = self.hashes.len().max(1) as f64;
        let time = |phase: Phase| (phase, self.phases[phase as usize] / count);
        RuntimeSummary {
            phases: Phase::ALL.map(time).to_vec(),
            programs: Statistics::of(&self.programs),
            hashes: Statistics::of(&self.hashes),
        }
    }

    /// Ends the phase before, and tells the time.
    fn turn(&mut self) -> f64 {
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
        if let Some(Running { began, items }) = self.program.take() {
            self.programs.push(now - began - items);
        }
    }
}

impl<C: FnMut() -> f64> Observer for Runtime<C> {
    fn enter(&mut self, phase: Phase) {
        let now = self.turn();
        self.now = Some((phase, now));
        match phase {
            Phase::Fill => self.began = now,
            Phase::Generate => {
                self.end_program(now);
                self.program = Some(Running { began: now, items: 0.0 });
            }
            Phase::Finish => self.end_program(now),
            Phase::Compile | Phase::Execute | Phase::Items => {}
        }
    }

    fn leave(&mut self) {
        let now = self.turn();
        self.hashes.push(now - self.began);
    }
}
