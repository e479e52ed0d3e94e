//! `randomx verify`.

use std::{borrow::Cow, path::Path, process::ExitCode};

use randomx::Version;
use randomx_monero::Difficulty;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{
    args::VerifyArgs,
    batch::Batch,
    bytes, chain,
    error::Error,
    jsonl,
    machine::Hash,
    output,
    progress::Progress,
    record::{self, LineError},
    work,
};

/// The exit code when a proof of work is not valid.
pub(crate) const NOT_VALID: u8 = 1;

/// Verifies the blocks of a node or of a file.
pub(crate) fn run(args: &VerifyArgs) -> Result<ExitCode, Error> {
    match (&args.node, &args.jsonl) {
        (Some(node), _) => chain::run(args, node),
        (None, Some(file)) => verify_lines(args, file),
        (None, None) => Err(Error::NoStart),
    }
}

/// Verifies every line and prints the verdicts. Success only when all are valid.
fn verify_lines(args: &VerifyArgs, file: &Path) -> Result<ExitCode, Error> {
    let (batch, difficulties) = read(file)?;
    if difficulties.is_empty() {
        return Err(Error::NothingToVerify { file: jsonl::name(file) });
    }
    let machine = args.work.machine(args.mode);
    let progress = Progress::on_terminal(batch.len());
    let hashes = work::hash_all(&machine, &batch, args.work.spread(), &progress)?;
    drop(progress);
    let mut verdicts = hashes.iter().zip(&difficulties).map(|(hash, d)| judge(hash, d));
    let all_valid = verdicts.clone().all(|verdict| verdict.valid);
    output::write(|out| verdicts.try_for_each(|verdict| output::json_line(out, &verdict)))?;
    Ok(if all_valid { ExitCode::SUCCESS } else { ExitCode::from(NOT_VALID) })
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
struct Verdict<'a> {
    valid: bool,
    #[serde(serialize_with = "hex::serialize")]
    hash: &'a Hash,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

fn read(file: &Path) -> Result<(Batch, Vec<Difficulty>), Error> {
    let mut batch = Batch::default();
    let mut difficulties = Vec::new();
    jsonl::for_each_line(file, |line| {
        let record: Record<'_> = record::parse(line)?;
        let seed_hash =
            bytes::hash_from_hex(&record.seed_hash).map_err(LineError::field("seed_hash"))?;
        let hashing_blob =
            bytes::from_hex(&record.hashing_blob).map_err(LineError::field("hashing_blob"))?;
        let difficulty =
            record::difficulty(record.difficulty).map_err(LineError::field("difficulty"))?;
        batch.push(seed_hash.to_vec(), record.version, hashing_blob);
        difficulties.push(difficulty);
        Ok(())
    })?;
    Ok((batch, difficulties))
}

fn judge<'a>(hash: &'a Hash, difficulty: &Difficulty) -> Verdict<'a> {
    let valid = difficulty.is_met_by(hash);
    let reason = (!valid).then(|| format!("the hash does not meet difficulty {difficulty}"));
    Verdict { valid, hash, reason }
}
