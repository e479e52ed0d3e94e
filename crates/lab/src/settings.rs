//! The settings of a run.

use std::{num::NonZero, thread};

use randomx::MAX_THREADS;

use crate::{Description, LabError, Samples};

/// The settings of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The seed of all random choices.
    pub seed: u64,
    /// The number of samples, by default [`Samples::usual`].
    pub samples: Option<u64>,
    /// The number of threads, on which only the figures of `rdrand` depend.
    pub threads: usize,
    /// The parts to run, of [`Description::parts`]; empty for all.
    pub only: Vec<String>,
}

impl Default for Settings {
    fn default() -> Settings {
        let threads = thread::available_parallelism().map_or(1, NonZero::get).min(MAX_THREADS);
        Settings { seed: 1, samples: None, threads, only: Vec::new() }
    }
}

impl Settings {
    /// The number of samples to take.
    pub fn samples(&self, samples: Samples) -> u64 {
        self.samples.unwrap_or(samples.usual)
    }

    /// Whether a part of the experiment is to run.
    pub fn wants(&self, part: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|wanted| wanted == part)
    }

    pub(crate) fn check(&self, description: &Description) -> Result<(), LabError> {
        let Samples { what, least, most, .. } = description.samples;
        if let Some(asked) = self.samples
            && !(least..=most).contains(&asked)
        {
            return Err(LabError::Samples { what, asked, least, most });
        }
        if !(1..=MAX_THREADS).contains(&self.threads) {
            return Err(LabError::Threads { asked: self.threads });
        }
        let parts = description.parts;
        match self.only.iter().find(|wanted| !parts.contains(&wanted.as_str())) {
            Some(name) => Err(LabError::Part { name: name.clone(), known: parts.join(", ") }),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::find;

    fn refusal(settings: Settings) -> String {
        let chain = find("chain").expect("an experiment");
        settings.check(chain.description()).expect_err("a refusal").to_string()
    }

    #[test]
    fn invalid_settings_are_named() {
        let none = Settings { samples: Some(0), ..Settings::default() };
        assert!(refusal(none).starts_with("samples: expected 1 to "));
        let many = Settings { samples: Some(u64::MAX), ..Settings::default() };
        assert!(refusal(many).starts_with("samples: expected 1 to "));
        for threads in [0, MAX_THREADS + 1] {
            let settings = Settings { threads, ..Settings::default() };
            assert!(refusal(settings).starts_with("threads: expected 1 to "));
        }
        let only = Settings { only: vec!["half".to_owned()], ..Settings::default() };
        assert_eq!(
            refusal(only),
            "only: expected nothing, as the experiment has no parts; got `half`"
        );
    }
}
