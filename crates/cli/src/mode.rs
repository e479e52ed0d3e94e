//! Light and fast mode.

use std::fmt;

use clap::ValueEnum;

/// How to get dataset items.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Mode {
    /// Compute each item from a cache of 256 MiB
    Light,
    /// Read items from a dataset of 2080 MiB, built once per key
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
