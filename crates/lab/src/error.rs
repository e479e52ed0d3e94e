//! Why there is no report.

use std::io;

use randomx::{CacheError, DatasetError, MAX_THREADS, VmError};
use thiserror::Error;

/// What is wrong with the settings, or missing on the machine.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LabError {
    /// There is no experiment of that name.
    #[error("experiment: expected one of {known}; got `{name}`")]
    Experiment {
        /// The name asked for.
        name: String,
        /// Those that there are.
        known: String,
    },
    /// Too many samples, or none.
    #[error("samples: expected 1 to {most} {what}, got {asked}")]
    Samples {
        /// What a sample is.
        what: &'static str,
        /// How many were asked for.
        asked: u64,
        /// More are refused.
        most: u64,
    },
    /// The number of threads is not from 1 to [`MAX_THREADS`].
    #[error("threads: expected 1 to {MAX_THREADS}, got {asked}")]
    Threads {
        /// Threads asked for.
        asked: usize,
    },
    /// The experiment has no such part.
    #[error("only: `{name}` is no part of this experiment, which has {}", listed(.known))]
    Part {
        /// The part asked for.
        name: String,
        /// Those that there are.
        known: String,
    },
    /// The experiment has no such stream.
    #[error("raw: `{name}` is no stream of this experiment, which has {}", listed(.known))]
    Stream {
        /// The stream asked for.
        name: String,
        /// Those that there are.
        known: String,
    },
    /// There is not enough memory.
    #[error("no memory for {what}: {} MiB needed", .bytes.div_ceil(1 << 20))]
    OutOfMemory {
        /// For what.
        what: &'static str,
        /// Bytes asked for.
        bytes: usize,
    },
    /// The cache of a key could not be had.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// The dataset of a key could not be had.
    #[error(transparent)]
    Dataset(#[from] DatasetError),
    /// A VM could not be had.
    #[error(transparent)]
    Vm(#[from] VmError),
    /// This processor, or this system, lacks what the experiment is about.
    #[error("this machine lacks {0}")]
    Lacking(String),
    /// A program that the experiment uses could not be run, or said what was not expected.
    #[error("{program}: {problem}")]
    Program {
        /// Its name.
        program: &'static str,
        /// What went wrong.
        problem: String,
    },
    /// A picture could not be drawn.
    #[error("the picture `{picture}` cannot be drawn: {problem}")]
    Picture {
        /// Its name.
        picture: String,
        /// What went wrong.
        problem: String,
    },
    /// Data could not be written or compressed.
    #[error("{what}: {problem}")]
    Io {
        /// What was being done.
        what: &'static str,
        /// What went wrong.
        problem: io::Error,
    },
}

fn listed(known: &str) -> &str {
    if known.is_empty() { "none" } else { known }
}
