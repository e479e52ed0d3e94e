//! Why there is no report.

use std::io;

use randomx::{CacheError, DatasetError, MAX_THREADS, VmError};
use thiserror::Error;

/// Invalid settings, or something that the machine lacks.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LabError {
    /// The name is no experiment's.
    #[error("experiment: expected one of {known}; got `{name}`")]
    Experiment {
        /// The name given.
        name: String,
        /// The names of all experiments.
        known: String,
    },
    /// The number of samples is too small or too large.
    #[error("samples: expected {least} to {most} {what}, got {asked}")]
    Samples {
        /// The noun for the samples, in the plural.
        what: &'static str,
        /// The number given.
        asked: u64,
        /// The smallest number.
        least: u64,
        /// The largest number.
        most: u64,
    },
    /// The number of threads is not from 1 to [`MAX_THREADS`].
    #[error("threads: expected 1 to {MAX_THREADS}, got {asked}")]
    Threads {
        /// The number given.
        asked: usize,
    },
    /// The experiment has no such part.
    #[error("only: expected {}; got `{name}`", choices(.known, "parts"))]
    Part {
        /// The name given.
        name: String,
        /// The experiment's parts.
        known: String,
    },
    /// The experiment has no such stream.
    #[error("raw: expected {}; got `{name}`", choices(.known, "streams"))]
    Stream {
        /// The name given.
        name: String,
        /// The experiment's streams.
        known: String,
    },
    /// There is too little memory.
    #[error("no memory for {what}: {} MiB needed", .bytes.div_ceil(1 << 20))]
    OutOfMemory {
        /// Its purpose.
        what: &'static str,
        /// The number of bytes needed.
        bytes: usize,
    },
    /// The cache of a key could not be made.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// The dataset of a key could not be made.
    #[error(transparent)]
    Dataset(#[from] DatasetError),
    /// A VM could not be made.
    #[error(transparent)]
    Vm(#[from] VmError),
    /// The processor or the system lacks something that the experiment needs.
    #[error("this machine lacks {0}")]
    Lacking(String),
    /// A program that the experiment uses could not be run, or its output was unexpected.
    #[error("{program}: {problem}")]
    Program {
        /// Its name.
        program: &'static str,
        /// The cause.
        problem: String,
    },
    /// A picture could not be drawn.
    #[error("the picture `{picture}` cannot be drawn: {problem}")]
    Picture {
        /// Its name.
        picture: String,
        /// The cause.
        problem: String,
    },
    /// Data could not be read, written or compressed.
    #[error("{what}: {problem}")]
    Io {
        /// The data.
        what: &'static str,
        /// The cause.
        problem: io::Error,
    },
}

fn choices(known: &str, kind: &str) -> String {
    match known {
        "" => format!("nothing, as the experiment has no {kind}"),
        known => format!("one of {known}"),
    }
}
