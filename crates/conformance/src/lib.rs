//! Runs the shared test vectors, `tests/vectors/*.json`, against the crate `randomx`.
//!
//! The same code runs natively, in Node and in browsers, so that "all vectors pass" means the
//! same everywhere. A suite is a vector file; it is passed in as text, because not every
//! environment has files.

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

/// How a suite fails to run at all; wrong results are in the [`Report`] instead.
#[derive(Debug)]
pub enum Error {
    /// There is no suite of this name.
    UnknownSuite(String),
    /// The vector file is not what the suite expects.
    Malformed(String),
    /// The machine could not run it.
    Failed(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::UnknownSuite(name) => write!(f, "there is no suite {name}"),
            Error::Malformed(why) => write!(f, "malformed vectors: {why}"),
            Error::Failed(why) => write!(f, "could not run: {why}"),
        }
    }
}

impl std::error::Error for Error {}

/// What a suite found.
#[derive(Debug, Default, serde::Serialize)]
pub struct Report {
    /// Values compared.
    pub checked: usize,
    /// A sentence for each value that was wrong.
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

/// What a vector file is run by.
enum Suite {
    /// Checks parts of the algorithm, and adds what it finds to the report.
    Parts(fn(&str, VmOptions, &mut Report) -> Result<(), Error>),
    /// Reads whole hashes, which are checked in one way for all files.
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

/// The names of all suites; `tests/vectors/<name>.json` holds the vectors of each.
pub fn suites() -> impl Iterator<Item = &'static str> {
    SUITES.iter().map(|(name, _)| *name)
}

/// Runs the suite `name` on its vectors, with VMs of the given options.
///
/// # Errors
///
/// When the suite cannot be run. Wrong results are not an error but failures in the report.
pub fn run(name: &str, vectors: &str, options: VmOptions) -> Result<Report, Error> {
    let mut report = Report::default();
    match suite(name)? {
        Suite::Parts(check) => check(vectors, options, &mut report)?,
        Suite::Hashes(read) => hashes::check(&read(vectors)?, options, &mut report)?,
    }
    Ok(report)
}

/// The vectors of a suite of whole hashes, for callers that share what their keys expand to
/// between many runs; other suites have none.
///
/// # Errors
///
/// When there is no such suite, or its vectors are malformed.
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
