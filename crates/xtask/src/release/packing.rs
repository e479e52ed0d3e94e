//! What the builds of all archives have in common.

use std::path::{Path, PathBuf};

/// Where archives go, and what they may contain.
pub(crate) struct Packing<'a> {
    /// The time of the last commit, in seconds since 1970.
    pub(crate) commit: &'a str,
    /// The folder for archives.
    pub(crate) output: &'a Path,
    /// Folders whose paths nothing in an archive may contain.
    pub(crate) private: &'a [PathBuf],
}
