//! The time of each phase.

use randomx::{Observer, Phase};
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen]
extern "C" {
    /// Returns the milliseconds since a fixed moment.
    #[wasm_bindgen(js_namespace = performance)]
    pub(crate) fn now() -> f64;
}

/// An observer that adds up the time of each phase.
#[derive(Default)]
pub(crate) struct Clock {
    milliseconds: [f64; Phase::ALL.len()],
    phase: Option<Phase>,
    since: f64,
}

impl Clock {
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
        let now = now();
        if let Some(phase) = self.phase.take() {
            self.milliseconds[phase as usize] += now - self.since;
        }
        self.since = now;
    }
}
