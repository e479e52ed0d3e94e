//! The description of an experiment.

use crate::LabError;

/// The description of an experiment, with the available settings.
#[derive(Clone, Copy, Debug)]
pub struct Description {
    /// The experiment's name on the command line.
    pub name: &'static str,
    /// The document and the section that published the measurement.
    pub section: &'static str,
    /// One paragraph: what was published, what is measured, and how far the machine matters.
    pub about: &'static str,
    /// The meaning of `--samples`.
    pub samples: Samples,
    /// The parts that can run separately; empty if there is only one.
    pub parts: &'static [&'static str],
    /// The random streams that other programs can test.
    pub streams: &'static [&'static str],
}

/// The samples of an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Samples {
    /// The noun for the samples, in the plural.
    pub what: &'static str,
    /// The default number, which the records in `docs` use.
    pub usual: u64,
    /// The smallest number.
    pub least: u64,
    /// The largest number.
    pub most: u64,
}

impl Description {
    /// The error for a stream that the experiment does not have.
    pub fn no_stream(&self, name: &str) -> LabError {
        LabError::Stream { name: name.to_owned(), known: self.streams.join(", ") }
    }
}
