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

/// Finds an experiment by its name.
///
/// # Errors
///
/// [`LabError::Experiment`] if there is no such experiment.
pub fn find(name: &str) -> Result<&'static dyn Experiment, LabError> {
    let found = EXPERIMENTS.iter().find(|experiment| experiment.description().name == name);
    found.copied().ok_or_else(|| {
        let names = EXPERIMENTS.iter().map(|experiment| experiment.description().name);
        let known = names.collect::<Vec<_>>().join(", ");
        LabError::Experiment { name: name.to_owned(), known }
    })
}

/// Checks the settings and runs an experiment.
///
/// # Errors
///
/// See [`LabError`].
pub fn run(
    experiment: &dyn Experiment,
    settings: &Settings,
    progress: &mut dyn Progress,
) -> Result<Report, LabError> {
    settings.check(experiment.description())?;
    experiment.run(settings, progress)
}

/// Returns one of an experiment's random streams.
///
/// # Errors
///
/// [`LabError::Stream`] if the experiment has no such stream.
pub fn stream(experiment: &dyn Experiment, name: &str, seed: u64) -> Result<Stream, LabError> {
    experiment.stream(name, seed)
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::*;

    #[test]
    fn experiments_are_found_by_name() {
        for experiment in EXPERIMENTS {
            let description = experiment.description();
            let found = find(description.name).expect("a known experiment");
            assert_eq!(found.description().name, description.name);
            assert!(description.samples.usual <= description.samples.most);
            assert!(!description.about.contains('\n'), "{}: one paragraph", description.name);
        }
        let sentence = find("alchemy").err().map(|error| error.to_string()).unwrap_or_default();
        assert!(sentence.starts_with("experiment: expected one of section2, chain"), "{sentence}");
        assert!(sentence.ends_with("; got `alchemy`"), "{sentence}");
    }

    #[test]
    fn unknown_streams_are_refused() {
        for experiment in EXPERIMENTS {
            let name = experiment.description().name;
            assert!(stream(*experiment, "no such stream", 1).is_err(), "{name}");
        }
    }

    /// A record begins with the experiment's own words, and its index names it.
    #[test]
    fn every_experiment_has_a_record() {
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
        let read = |name: &str| fs::read_to_string(docs.join(name)).expect("a record");
        let index = read("README.md");
        for experiment in EXPERIMENTS {
            let report = Report::new(experiment.description(), &Settings::default());
            let (page, expected) =
                (read(&format!("{}.md", report.experiment)), report.to_markdown());
            assert!(page.starts_with(&expected), "{}: expected\n{expected}", report.experiment);
            assert!(index.contains(&format!("[{0}]({0}.md)", report.experiment)), "{index}");
        }
    }
}
