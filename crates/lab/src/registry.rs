//! All experiments.

use crate::{Experiment, LabError, Progress, Report, Settings, Stream};
use crate::{blake2, design, encode, randen, rdrand};

/// Every experiment, in the order of the documents.
pub const EXPERIMENTS: &[&dyn Experiment] = &[
    &design::Section2,
    &design::Chain,
    &design::CpuSim,
    &design::Runtime,
    &design::Entropy,
    &design::Superscalar,
    &design::Rng,
    &randen::Comparison,
    &blake2::HashFunctions,
    &encode::Replication,
    &rdrand::Reads,
];

/// The experiment of that name.
///
/// # Errors
///
/// [`LabError::Experiment`] when there is none.
pub fn find(name: &str) -> Result<&'static dyn Experiment, LabError> {
    let found = EXPERIMENTS.iter().find(|experiment| experiment.name() == name);
    found.copied().ok_or_else(|| {
        let names: Vec<&str> = EXPERIMENTS.iter().map(|experiment| experiment.name()).collect();
        LabError::Experiment { name: name.to_owned(), known: names.join(", ") }
    })
}

/// Checks the settings and runs an experiment with them.
///
/// # Errors
///
/// See [`LabError`].
pub fn run(
    experiment: &dyn Experiment,
    settings: &Settings,
    progress: &mut dyn Progress,
) -> Result<Report, LabError> {
    settings.check(experiment)?;
    experiment.run(settings, progress)
}

/// A stream of an experiment.
///
/// # Errors
///
/// [`LabError::Stream`] when it has none of that name.
pub fn stream(experiment: &dyn Experiment, name: &str, seed: u64) -> Result<Stream, LabError> {
    experiment.stream(name, seed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn experiments_are_found_by_their_own_name() {
        for experiment in EXPERIMENTS {
            let found = find(experiment.name()).expect("it is there");
            assert_eq!(found.name(), experiment.name());
            assert!(experiment.samples().usual <= experiment.samples().most);
            assert!(!experiment.about().contains('\n'), "{}: one paragraph", experiment.name());
        }
        let sentence = find("alchemy").err().map(|error| error.to_string()).unwrap_or_default();
        assert!(sentence.starts_with("experiment: expected one of section2, chain"), "{sentence}");
        assert!(sentence.ends_with("; got `alchemy`"), "{sentence}");
    }

    #[test]
    fn streams_are_had_by_name_alone() {
        for experiment in EXPERIMENTS {
            assert!(stream(*experiment, "no such stream", 1).is_err(), "{}", experiment.name());
        }
    }
}
