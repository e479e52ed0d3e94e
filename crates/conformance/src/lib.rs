//! Runs the shared test vectors, `tests/vectors/*.json`, against the crate `randomx`.
//!
//! The same code runs natively, in Node.js and in browsers, so that "all vectors pass" means the same
//! everywhere. Each vector file is a suite. Its text is an argument, because browsers have no files.

mod cache;
mod hashes;
mod instructions;
mod primitives;
#[cfg(target_arch = "wasm32")]
mod wasm;

use std::fmt;

use randomx::VmOptions;
use serde::de::DeserializeOwned;

pub use hashes::{HashVector, check_hashes};
pub use instructions::run_instructions;

/// A suite could not be run. Wrong results are in the [`Report`] instead.
#[derive(Debug)]
pub enum Error {
    /// No suite has this name.
    UnknownSuite(String),
    /// The vector file does not have the form that the suite expects.
    Malformed(String),
    /// The machine lacks memory or instructions.
    Failed(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::UnknownSuite(name) => write!(f, "suite: expected one of suites(), got {name}"),
            Error::Malformed(why) => write!(f, "malformed vectors: {why}"),
            Error::Failed(why) => write!(f, "cannot run: {why}"),
        }
    }
}

impl std::error::Error for Error {}

/// The result of a suite.
#[derive(Debug, Default, serde::Serialize)]
pub struct Report {
    /// The number of compared values.
    pub checked: usize,
    /// A sentence for each wrong value.
    pub failures: Vec<String>,
}

impl Report {
    /// Compares an actual value with the expected one.
    fn check<T: PartialEq + fmt::Display>(
        &mut self,
        what: impl FnOnce() -> String,
        actual: T,
        expected: T,
    ) {
        self.checked += 1;
        if actual != expected {
            self.failures.push(format!("{}: got {actual}, expected {expected}", what()));
        }
    }
}

/// The code that runs a vector file.
enum Suite {
    /// Checks parts of the algorithm, and adds the results to a report.
    Parts(fn(&str, VmOptions, &mut Report) -> Result<(), Error>),
    /// Reads whole hashes, which are checked in the same way for all files.
    Hashes(fn(&str) -> Result<Vec<HashVector>, Error>),
}

const SUITES: &[(&str, Suite)] = &[
    ("reciprocals", Suite::Parts(primitives::reciprocals)),
    ("aes", Suite::Parts(primitives::aes)),
    ("superscalar", Suite::Parts(primitives::superscalar)),
    ("commitments", Suite::Parts(primitives::commitments)),
    ("instructions", Suite::Parts(instructions::instructions)),
    ("cache", Suite::Parts(cache::cache)),
    ("specification-hashes", Suite::Hashes(hashes::read)),
    ("reference-hashes", Suite::Hashes(hashes::read)),
    ("mainnet-headers", Suite::Hashes(hashes::read_mainnet)),
    ("mainnet-blocks", Suite::Hashes(hashes::read_mainnet)),
    ("mainnet-shares", Suite::Hashes(hashes::read_mainnet)),
];

/// Returns the names of all suites. `tests/vectors/<name>.json` has the vectors of each.
pub fn suites() -> impl Iterator<Item = &'static str> {
    SUITES.iter().map(|(name, _)| *name)
}

/// Runs the suite `name` on its vectors, with VMs of the given options.
///
/// # Errors
///
/// If the suite cannot be run. Wrong results are failures in the report, not errors.
pub fn run(name: &str, vectors: &str, options: VmOptions) -> Result<Report, Error> {
    let mut report = Report::default();
    match suite(name)? {
        Suite::Parts(check) => check(vectors, options, &mut report)?,
        Suite::Hashes(read) => hashes::check(&read(vectors)?, options, &mut report)?,
    }
    Ok(report)
}

/// Returns the vectors of a suite of whole hashes, for callers that share caches and datasets between
/// runs. Other suites have none.
///
/// # Errors
///
/// If there is no such suite, or its vectors are malformed.
pub fn hash_vectors(name: &str, vectors: &str) -> Result<Vec<HashVector>, Error> {
    match suite(name)? {
        Suite::Parts(_) => Ok(Vec::new()),
        Suite::Hashes(read) => read(vectors),
    }
}

fn suite(name: &str) -> Result<&'static Suite, Error> {
    let found = SUITES.iter().find(|(known, _)| *known == name);
    found.map(|(_, suite)| suite).ok_or_else(|| Error::UnknownSuite(name.to_owned()))
}

fn parse<T: DeserializeOwned>(vectors: &str) -> Result<T, Error> {
    serde_json::from_str(vectors).map_err(|error| Error::Malformed(error.to_string()))
}

fn bytes(text: &str) -> Result<Vec<u8>, Error> {
    hex::decode(text).map_err(|error| Error::Malformed(error.to_string()))
}

fn array<const N: usize>(text: &str) -> Result<[u8; N], Error> {
    bytes(text)?.try_into().map_err(|_| Error::Malformed(format!("expected {N} bytes in {text}")))
}
