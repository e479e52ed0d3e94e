//! Errors of the command line.

use std::{io, path::PathBuf};

use randomx_lab::LabError;
use thiserror::Error;

/// Why a run ends early.
#[derive(Debug, Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    Experiment(#[from] LabError),

    #[error("{}: cannot be written: {problem}", .file.display())]
    Write { file: PathBuf, problem: io::Error },

    #[error("stdout: cannot be written: {0}")]
    Print(io::Error),
}

impl Failure {
    /// The exit code of every failure; clap uses the same for invalid arguments.
    pub(crate) const EXIT_CODE: u8 = 2;
}
