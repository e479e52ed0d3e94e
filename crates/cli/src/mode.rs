//! Light and fast mode.

use std::fmt;

use clap::ValueEnum;

/// Where dataset items come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Mode {
    /// From a cache of 256 MiB, computed when needed
    Light,
    /// From a dataset of 2080 MiB, computed in advance
    Fast,
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Mode::Light => "light",
            Mode::Fast => "fast",
        })
    }
}
