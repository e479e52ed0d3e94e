//! `randomx verify --evidence`.

use std::{
    path::Path,
    process::ExitCode,
    time::{SystemTime, UNIX_EPOCH},
};

use randomx_client::Hasher;
use randomx_monero::client::Evidence;
use serde::Serialize;

use crate::{
    args::WorkArgs,
    error::{Error, NOT_VALID},
    output, whole_file,
};

/// The longest file that is read: two sides of three days have 350 KB.
const MAX_BYTES: u64 = 16 << 20;

/// The first line of output.
#[derive(Serialize)]
struct Common<'a> {
    network: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    fixed_difficulty: Option<String>,
    common: Block<'a>,
    /// That of the first block of each side.
    #[serde(skip_serializing_if = "Option::is_none")]
    difficulty: Option<String>,
}

#[derive(Serialize)]
struct Block<'a> {
    height: u64,
    #[serde(serialize_with = "hex::serialize")]
    id: &'a [u8],
}

/// One side of a fork, as a line of output.
#[derive(Serialize)]
struct Side {
    side: usize,
    /// The number of valid blocks after the last common one.
    valid: usize,
    tip: String,
    work: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<Refused>,
}

#[derive(Serialize)]
struct Refused {
    height: u64,
    failed: Vec<String>,
}

/// Checks evidence and prints a line for each side.
pub(crate) fn run(
    file: &Path,
    fixed_difficulty: Option<u64>,
    work: &WorkArgs,
) -> Result<ExitCode, Error> {
    let bytes = whole_file::read(file, MAX_BYTES)?;
    let invalid = |problem| Error::Evidence { file: file.to_owned(), problem };
    let evidence = Evidence::from_bytes(&bytes).map_err(invalid)?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs());
    let mut hasher = work.light_hasher();
    let mut failure = None;
    let stated = fixed_difficulty.map(u128::from);
    let verdicts =
        evidence.verify(stated, now, &mut |key, blob| match hasher.hash(key, &[blob.to_vec()]) {
            Ok(hashes) => hashes.first().copied(),
            Err(error) => {
                failure = Some(error);
                None
            }
        });
    if let Some(failure) = failure {
        return Err(Error::Hash(failure));
    }
    let verdicts = verdicts.map_err(invalid)?;
    output::write(|out| {
        let start = &evidence.start;
        let common = Common {
            network: evidence.network.as_str(),
            fixed_difficulty: evidence.fixed_difficulty.map(|fixed| fixed.to_string()),
            common: Block { height: start.height, id: &start.id },
            difficulty: evidence.difficulty().map(|difficulty| difficulty.to_string()),
        };
        output::json_line(out, &common)?;
        verdicts.iter().enumerate().try_for_each(|(index, verdict)| {
            let refused = verdict.refused.as_ref().map(|(height, checks)| Refused {
                height: *height,
                failed: checks.iter().map(ToString::to_string).collect(),
            });
            let side = Side {
                side: index + 1,
                valid: verdict.valid,
                tip: hex::encode(verdict.tip),
                work: verdict.work.to_string(),
                refused,
            };
            output::json_line(out, &side)
        })
    })?;
    let all_valid = verdicts.iter().all(|verdict| verdict.refused.is_none());
    Ok(if all_valid { ExitCode::SUCCESS } else { ExitCode::from(NOT_VALID) })
}
