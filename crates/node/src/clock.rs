//! The time of each phase.

use std::time::Instant;

use randomx::{Observer, Phase};

/// An observer that adds up the time of each phase.
pub(crate) struct Clock {
    milliseconds: [f64; Phase::ALL.len()],
    phase: Option<Phase>,
    since: Instant,
}

impl Clock {
    pub(crate) fn new() -> Clock {
        Clock { milliseconds: [0.0; Phase::ALL.len()], phase: None, since: Instant::now() }
    }

    /// Returns the times so far, in the order of [`Phase::ALL`].
    pub(crate) fn milliseconds(&self) -> [f64; Phase::ALL.len()] {
        self.milliseconds
    }
}

impl Observer for Clock {
    fn enter(&mut self, phase: Phase) {
        self.leave();
        self.phase = Some(phase);
    }

    fn leave(&mut self) {
        let now = Instant::now();
        if let Some(phase) = self.phase.take() {
            self.milliseconds[phase as usize] += (now - self.since).as_secs_f64() * 1e3;
        }
        self.since = now;
    }
}
