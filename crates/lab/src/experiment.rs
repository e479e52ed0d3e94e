//! What an experiment is.

use std::io::Read;

use crate::{LabError, Report, Settings};

/// A claim of a document, and how to measure it again.
pub trait Experiment: Sync {
    /// What it is called on the command line.
    fn name(&self) -> &'static str;

    /// The document and the section that make the claim.
    fn section(&self) -> &'static str;

    /// One paragraph: what is claimed, what is done, and what the machine has to do with it.
    fn about(&self) -> &'static str;

    /// What `--samples` counts.
    fn samples(&self) -> Samples;

    /// The parts that can be run alone, where there are several.
    fn parts(&self) -> &'static [&'static str] {
        &[]
    }

    /// Random streams that this experiment is about, to be tested by other programs.
    fn streams(&self) -> &'static [&'static str] {
        &[]
    }

    /// Runs it. The same settings give the same report, unless times are measured.
    ///
    /// [`run`](crate::run) checks the settings first.
    ///
    /// # Errors
    ///
    /// [`LabError`] where the machine lacks memory, an instruction or a program.
    fn run(&self, settings: &Settings, progress: &mut dyn Progress) -> Result<Report, LabError>;

    /// One of [`streams`](Self::streams), without end.
    ///
    /// # Errors
    ///
    /// [`LabError::Stream`] when there is none of that name.
    fn stream(&self, name: &str, seed: u64) -> Result<Stream, LabError> {
        let _ = seed;
        Err(LabError::Stream { name: name.to_owned(), known: self.streams().join(", ") })
    }
}

/// Bytes without end.
pub type Stream = Box<dyn Read + Send>;

/// What the samples of an experiment are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Samples {
    /// What one of them is, in the plural.
    pub what: &'static str,
    /// As many as the records in `docs` are made of.
    pub usual: u64,
    /// More are refused.
    pub most: u64,
}

/// Is told how far an experiment is.
pub trait Progress {
    /// So many steps `of` a stage are done.
    fn at(&mut self, stage: &str, done: u64, of: u64);
}

/// Nobody.
impl Progress for () {
    fn at(&mut self, _: &str, _: u64, _: u64) {}
}
