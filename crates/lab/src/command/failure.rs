//! Errors of the command line.

use std::{io, path::PathBuf};

use randomx_lab::LabError;
use thiserror::Error;

/// Why a run ends early.
#[derive(Debug, Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    Experiment(#[from] LabError),

    /// Two options name one file.
    #[error(
        "{} and {}: expected different files, got `{}` and `{}`",
        .options[0], .options[1], .files[0].display(), .files[1].display()
    )]
    SameFile { options: [&'static str; 2], files: [PathBuf; 2] },

    #[error("{}: cannot be written: {problem}", .file.display())]
    Write { file: PathBuf, problem: io::Error },

    #[error("stdout: cannot be written: {0}")]
    Print(io::Error),
}

impl Failure {
    /// The exit code of every failure; clap uses the same for invalid arguments.
    pub(crate) const EXIT_CODE: u8 = 2;
}
