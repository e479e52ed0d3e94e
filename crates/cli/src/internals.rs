//! The parsers of untrusted bytes, for the fuzz targets in `crates/fuzz`. They have no stability
//! promise: any release may change them.

use std::net::SocketAddr;

use randomx::Version;
use randomx_monero::{Checkpoint, Difficulty};

use crate::jsonl::Lines;
use crate::queue::Job;
use crate::record::LineError;
pub use crate::serve::internals::{HashBody, VerifyBody};
use crate::{chain, hash, serve, verify};

/// The key, the version and the input of a line.
pub type HashLine = (Vec<u8>, Version, Vec<u8>);

/// The seed hash, the blob and the difficulty of a line.
pub type VerifyLine = (Vec<u8>, Vec<u8>, Difficulty);

/// Parses the lines of `randomx hash --jsonl`.
///
/// # Errors
///
/// The message about the first line that cannot be parsed.
pub fn parse_hash_lines(bytes: &[u8]) -> Result<Vec<HashLine>, String> {
    let jobs = jobs(bytes, hash::parse)?.into_iter();
    Ok(jobs.map(|job| (job.key, job.version, job.input)).collect())
}

/// Parses the lines of `randomx verify --jsonl`.
///
/// # Errors
///
/// The message about the first line that cannot be parsed.
pub fn parse_verify_lines(bytes: &[u8]) -> Result<Vec<VerifyLine>, String> {
    let jobs = jobs(bytes, verify::parse)?.into_iter();
    Ok(jobs.map(|job| (job.key, job.input, job.tag)).collect())
}

/// Parses the body of `POST /api/hash`.
///
/// # Errors
///
/// The message of the answer.
pub fn parse_hash_body(bytes: &[u8], threads: usize) -> Result<HashBody, String> {
    serve::internals::parse_hash_body(bytes, threads)
}

/// Parses the body of `POST /api/verify`, and checks the block without its hash.
///
/// # Errors
///
/// The message of the answer.
pub fn parse_verify_body(bytes: &[u8]) -> Result<VerifyBody, String> {
    serve::internals::parse_verify_body(bytes)
}

/// Whether a server at an address accepts requests whose header `Host` is `host`.
pub fn is_own_host(bound: SocketAddr, host: &str) -> bool {
    serve::internals::is_own_host(bound, host)
}

/// Parses a file of `--checkpoint`.
///
/// # Errors
///
/// The reason why the text is no checkpoint.
pub fn parse_checkpoint(text: &str) -> Result<Checkpoint, String> {
    chain::parse_checkpoint(text).map_err(|error| error.to_string())
}

/// Returns the content of a file of `--checkpoint`.
///
/// # Errors
///
/// Never, since every checkpoint has a JSON form.
pub fn write_checkpoint(checkpoint: &Checkpoint) -> Result<String, String> {
    chain::write_checkpoint(checkpoint).map_err(|error| error.to_string())
}

fn jobs<T>(
    bytes: &[u8],
    parse: impl Fn(&str) -> Result<Job<T>, LineError>,
) -> Result<Vec<Job<T>>, String> {
    let mut lines = Lines::of(bytes.to_vec());
    let mut jobs = Vec::new();
    while let Some(job) = lines.next(&parse).map_err(|error| error.to_string())? {
        jobs.push(job);
    }
    Ok(jobs)
}
