//! Light and fast mode.

use std::fmt;

use clap::ValueEnum;

/// Memory against speed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Mode {
    /// 256 MiB per key
    Light,
    /// 2080 MiB per key, and hashes several times faster
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
