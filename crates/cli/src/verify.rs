//! `randomx verify --jsonl`.

use std::{borrow::Cow, path::Path, process::ExitCode};

use randomx::Version;
use randomx_monero::Difficulty;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{
    args::VerifyArgs,
    backend::Hash,
    bytes,
    error::{Error, NOT_VALID},
    hasher::Hasher,
    jsonl::Lines,
    output,
    progress::Progress,
    queue::Job,
    record::{self, LineError},
    stream::hash_lines,
};

/// Verifies every line and prints the verdicts. Success only if all are valid.
///
/// If the reader of the verdicts closes the pipe, the run goes on until the exit code is known.
pub(crate) fn run(args: &VerifyArgs, file: &Path) -> Result<ExitCode, Error> {
    let lines = Lines::open(file)?;
    let name = lines.name();
    let progress = Progress::beside_lines();
    let mut hasher = Hasher::new(args.work.backend(args.mode), args.work.spread(), &progress);
    let (mut count, mut all_valid, mut read) = (0, true, true);
    let outcome = hash_lines(lines, &mut hasher, parse, |answers| {
        count += answers.len();
        all_valid &= answers.iter().all(|(difficulty, hash)| difficulty.is_met_by(hash));
        if read {
            read = output::write_while_read(|out| {
                answers.iter().try_for_each(|(difficulty, hash)| {
                    output::json_line(out, &Verdict::new(hash, difficulty))
                })
            })?;
        }
        if read || all_valid { Ok(()) } else { Err(Error::PipeClosed) }
    });
    match outcome {
        Ok(()) if count == 0 => Err(Error::NothingToVerify { file: name }),
        Ok(()) | Err(Error::PipeClosed) if !all_valid => Ok(ExitCode::from(NOT_VALID)),
        outcome => outcome.map(|()| ExitCode::SUCCESS),
    }
}

/// One line of input.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Record<'a> {
    #[serde(default, deserialize_with = "record::version")]
    version: Version,
    #[serde(borrow)]
    seed_hash: Cow<'a, str>,
    #[serde(borrow)]
    hashing_blob: Cow<'a, str>,
    #[serde(borrow)]
    difficulty: &'a RawValue,
}

/// One line of output.
#[derive(Serialize)]
pub(crate) struct Verdict<'a> {
    valid: bool,
    #[serde(serialize_with = "hex::serialize")]
    hash: &'a Hash,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl<'a> Verdict<'a> {
    pub(crate) fn new(hash: &'a Hash, difficulty: &Difficulty) -> Verdict<'a> {
        let valid = difficulty.is_met_by(hash);
        let reason = (!valid).then(|| format!("the hash does not meet difficulty {difficulty}"));
        Verdict { valid, hash, reason }
    }
}

/// Parses a line of input.
pub(crate) fn parse(line: &str) -> Result<Job<Difficulty>, LineError> {
    let record: Record<'_> = record::parse(line)?;
    let seed_hash =
        bytes::hash_from_hex(&record.seed_hash).map_err(LineError::field("seed_hash"))?;
    Ok(Job {
        key: seed_hash.to_vec(),
        version: record.version,
        input: bytes::from_hex(&record.hashing_blob).map_err(LineError::field("hashing_blob"))?,
        tag: record::difficulty(record.difficulty).map_err(LineError::field("difficulty"))?,
    })
}
