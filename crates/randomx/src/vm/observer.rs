//! The phases of a hash, for callers who measure them.

/// A phase of a hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Filling the first scratchpads with AesGenerator1R.
    Fill,
    /// Generating programs with AesGenerator4R.
    Generate,
    /// Translating programs to the form that the engine runs.
    Compile,
    /// Running programs. With a dataset this includes its reads.
    Execute,
    /// Computing dataset items, in light mode.
    Items,
    /// Hashing scratchpads with AesHash1R and the final Blake2b. The same pass fills them for the
    /// next hashes.
    Finish,
}

impl Phase {
    /// All phases, in the order in which a hash first enters them.
    pub const ALL: [Phase; 6] =
        [Phase::Fill, Phase::Generate, Phase::Compile, Phase::Execute, Phase::Items, Phase::Finish];
}

/// Receives phase changes of a VM.
pub trait Observer {
    /// Receives the phase that begins. The previous one ends.
    fn enter(&mut self, phase: Phase);
    /// Receives the end of the last phase.
    fn leave(&mut self);
}

/// A no-op observer.
impl Observer for () {
    fn enter(&mut self, _: Phase) {}
    fn leave(&mut self) {}
}

/// An observer that adds up the time of each phase.
///
/// The caller's clock returns the time since a fixed moment, in a unit of its choice.
#[derive(Debug)]
pub struct PhaseTimes<C> {
    clock: C,
    times: [f64; Phase::ALL.len()],
    current: Option<(Phase, f64)>,
}

impl<C: FnMut() -> f64> PhaseTimes<C> {
    /// Creates an observer that has seen no phase.
    pub fn new(clock: C) -> PhaseTimes<C> {
        PhaseTimes { clock, times: [0.0; Phase::ALL.len()], current: None }
    }

    /// Returns the time of each phase so far, in the order of [`Phase::ALL`].
    pub fn times(&self) -> [f64; Phase::ALL.len()] {
        self.times
    }

    /// Ends the phase that runs now, if any, and returns the time.
    fn end(&mut self) -> f64 {
        let now = (self.clock)();
        if let Some((phase, since)) = self.current.take() {
            self.times[phase as usize] += now - since;
        }
        now
    }
}

impl<C: FnMut() -> f64> Observer for PhaseTimes<C> {
    fn enter(&mut self, phase: Phase) {
        let now = self.end();
        self.current = Some((phase, now));
    }

    fn leave(&mut self) {
        self.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_times_of_a_phase_are_summed() {
        let mut readings = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0].into_iter();
        let mut times = PhaseTimes::new(|| readings.next().expect("another reading"));
        for phase in [Phase::Fill, Phase::Execute, Phase::Items, Phase::Execute] {
            times.enter(phase);
        }
        times.leave();
        // Between hashes no phase runs.
        times.enter(Phase::Fill);
        times.leave();
        // In the order of phases: fill, generate, compile, execute, items, finish.
        assert_eq!(times.times(), [1.0 + 32.0, 0.0, 0.0, 2.0 + 8.0, 4.0, 0.0]);
    }
}
