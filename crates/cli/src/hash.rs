//! `randomx hash`.

use std::{borrow::Cow, path::Path, process::ExitCode};

use randomx::Version;
use serde::{Deserialize, Serialize};

use crate::{
    args::HashArgs,
    backend::Hash,
    bytes::{self, BytesError},
    error::Error,
    hasher::{Hasher, Spread},
    jsonl::Lines,
    output,
    progress::Progress,
    queue::Job,
    record::{self, LineError},
    stream::hash_lines,
};

/// Hashes the input or every line of the file, and prints the hashes.
pub(crate) fn run(args: &HashArgs) -> Result<ExitCode, Error> {
    match &args.jsonl {
        Some(file) => run_lines(args, file)?,
        None => run_one(args)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn run_one(args: &HashArgs) -> Result<(), Error> {
    let job = Job {
        key: argument("--key", &args.key, "--key-text", &args.key_text)?,
        version: args.version.into(),
        input: argument("--input", &args.input, "--input-text", &args.input_text)?,
        tag: (),
    };
    let progress = Progress::on_terminal(Some(1));
    let one = Spread { threads: 1, lanes: 1 };
    let hashes = Hasher::new(args.work.backend(args.mode), one, &progress).hash_all([job])?;
    drop(progress);
    output::write(|out| hashes.iter().try_for_each(|hash| writeln!(out, "{}", hex::encode(hash))))
}

fn run_lines(args: &HashArgs, file: &Path) -> Result<(), Error> {
    let lines = Lines::open(file)?;
    let progress = Progress::beside_lines();
    let mut hasher = Hasher::new(args.work.backend(args.mode), args.work.spread(), &progress);
    let outcome = hash_lines(lines, &mut hasher, parse, |answers| {
        let read = output::write_while_read(|out| {
            answers.iter().try_for_each(|((), hash)| output::json_line(out, &Output { hash }))
        })?;
        if read { Ok(()) } else { Err(Error::PipeClosed) }
    });
    match outcome {
        Err(Error::PipeClosed) => Ok(()),
        outcome => outcome,
    }
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

/// Parses a line of input.
pub(crate) fn parse(line: &str) -> Result<Job<()>, LineError> {
    let record: Record<'_> = record::parse(line)?;
    Ok(Job {
        key: bytes::from_hex(&record.key).map_err(LineError::field("key"))?,
        version: record.version,
        input: bytes::from_hex(&record.input).map_err(LineError::field("input"))?,
        tag: (),
    })
}

/// The bytes of the one of two arguments that was given; clap ensures that one was.
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
