//! Progress of an experiment.

/// Receives the progress of an experiment.
pub trait Progress: Send {
    /// `done` steps `of` a stage are complete.
    fn at(&mut self, stage: &str, done: u64, of: u64);
}

/// Ignores progress.
impl Progress for () {
    fn at(&mut self, _: &str, _: u64, _: u64) {}
}
