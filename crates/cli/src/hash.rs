//! `randomx hash`.

use std::{borrow::Cow, path::Path, process::ExitCode};

use randomx::Version;
use serde::{Deserialize, Serialize};

use crate::{
    args::HashArgs,
    batch::Batch,
    bytes::{self, BytesError},
    error::Error,
    jsonl,
    machine::Hash,
    output,
    progress::Progress,
    record::{self, LineError},
    work,
};

/// Hashes what the arguments say and prints the hashes.
pub(crate) fn run(args: &HashArgs) -> Result<ExitCode, Error> {
    let batch = match &args.jsonl {
        Some(file) => read(file)?,
        None => single(args)?,
    };
    let machine = args.work.machine(args.mode);
    let progress = Progress::on_terminal(batch.len());
    let hashes = work::hash_all(&machine, &batch, args.work.spread(), &progress)?;
    drop(progress);
    output::write(|out| match args.jsonl {
        Some(_) => hashes.iter().try_for_each(|hash| output::json_line(out, &Output { hash })),
        None => hashes.iter().try_for_each(|hash| writeln!(out, "{}", hex::encode(hash))),
    })?;
    Ok(ExitCode::SUCCESS)
}

/// One line of input.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Record<'a> {
    #[serde(default, deserialize_with = "record::version")]
    version: Version,
    #[serde(borrow)]
    key: Cow<'a, str>,
    #[serde(borrow)]
    input: Cow<'a, str>,
}

/// One line of output.
#[derive(Serialize)]
struct Output<'a> {
    #[serde(serialize_with = "hex::serialize")]
    hash: &'a Hash,
}

fn read(file: &Path) -> Result<Batch, Error> {
    let mut batch = Batch::default();
    jsonl::for_each_line(file, |line| {
        let record: Record<'_> = record::parse(line)?;
        let key = bytes::from_hex(&record.key).map_err(LineError::field("key"))?;
        let input = bytes::from_hex(&record.input).map_err(LineError::field("input"))?;
        batch.push(key, record.version, input);
        Ok(())
    })?;
    Ok(batch)
}

fn single(args: &HashArgs) -> Result<Batch, Error> {
    let key = argument("--key", &args.key, "--key-text", &args.key_text)?;
    let input = argument("--input", &args.input, "--input-text", &args.input_text)?;
    let mut batch = Batch::default();
    batch.push(key, args.version.into(), input);
    Ok(batch)
}

/// The bytes of whichever of the two arguments was given; clap has seen to it that one was.
fn argument(
    hex_name: &'static str,
    hex: &Option<String>,
    text_name: &'static str,
    text: &Option<String>,
) -> Result<Vec<u8>, Error> {
    let (name, bytes): (_, Result<_, BytesError>) = match (hex, text) {
        (Some(hex), _) => (hex_name, bytes::from_hex(hex)),
        (None, text) => (text_name, bytes::from_text(text.as_deref().unwrap_or_default())),
    };
    bytes.map_err(|problem| Error::Argument { name, problem })
}
