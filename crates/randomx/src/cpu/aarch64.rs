//! The extensions of ARM64.

use std::arch::is_aarch64_feature_detected;
use std::fmt;

/// A group of processor instructions that a faster implementation needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extension {
    /// NEON: vectors of 2 lanes. Rust's targets for ARM64 all have it; without it, tests run the
    /// portable code.
    Neon,
    /// The AES instructions of ARMv8's cryptographic extension, in addition to NEON: AES rounds.
    Aes,
}

impl Extension {
    /// All extensions, prerequisites first.
    pub const ALL: [Extension; 2] = [Extension::Neon, Extension::Aes];

    /// Returns the extensions that this one needs.
    pub(super) fn prerequisites(self) -> &'static [Extension] {
        match self {
            Extension::Neon => &[],
            Extension::Aes => &[Extension::Neon],
        }
    }

    pub(super) fn detected(self) -> bool {
        match self {
            Extension::Neon => cfg!(target_feature = "neon"),
            Extension::Aes => is_aarch64_feature_detected!("aes"),
        }
    }
}

impl fmt::Display for Extension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Extension::Neon => "neon",
            Extension::Aes => "aes",
        })
    }
}
