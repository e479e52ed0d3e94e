//! The interface of an experiment.

use std::io::Read;

use crate::{Description, LabError, Progress, Report, Settings};

/// A published measurement, and how to repeat it.
pub trait Experiment: Sync {
    /// Returns the description of the experiment.
    fn description(&self) -> &'static Description;

    /// Runs the experiment. The same settings give the same report, unless times are measured.
    ///
    /// [`run`](crate::run) checks the settings first.
    ///
    /// # Errors
    ///
    /// [`LabError`] if the machine lacks memory, an instruction or a program.
    fn run(&self, settings: &Settings, progress: &mut dyn Progress) -> Result<Report, LabError>;

    /// Returns one of [`Description::streams`].
    ///
    /// # Errors
    ///
    /// [`LabError::Stream`] if there is no such stream.
    fn stream(&self, name: &str, seed: u64) -> Result<Stream, LabError> {
        let _ = seed;
        Err(self.description().no_stream(name))
    }
}

/// Endless bytes.
pub type Stream = Box<dyn Read + Send>;
