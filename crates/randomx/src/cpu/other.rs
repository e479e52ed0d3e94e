//! The extensions of WebAssembly and of processors without implementations of their own.

use std::fmt;

/// A group of processor instructions that a faster implementation needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extension {
    /// AES rounds: WebAssembly SIMD computes them, which all builds have.
    Aes,
}

impl Extension {
    /// All extensions, prerequisites first.
    pub const ALL: [Extension; 1] = [Extension::Aes];

    /// Returns the extensions that this one needs.
    pub(super) fn prerequisites(self) -> &'static [Extension] {
        &[]
    }

    pub(super) fn detected(self) -> bool {
        cfg!(target_arch = "wasm32")
    }
}

impl fmt::Display for Extension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Extension::Aes => f.write_str("aes"),
        }
    }
}
