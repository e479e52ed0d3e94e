//! Verdicts, as lines of output.

use std::io::Write;

use randomx_monero::{Outcome, Status, Verdict, client::TrustedBlock};
use serde::{Serialize, Serializer};

use crate::{backend::Hash, error::Error, output};

/// One line of output.
#[derive(Serialize)]
pub(super) struct Line {
    pub(super) height: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    /// `valid`, `unproven`, `update-needed` or `invalid`.
    status: &'static str,
    /// Whether the status is `valid`.
    pub(super) valid: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    difficulty: Option<String>,
    /// The sum of difficulties up to this block.
    #[serde(serialize_with = "as_digits")]
    pub(super) work: u128,
    /// Whether the chain began with a checkpoint that is complete and plausible.
    pub(super) complete_start: bool,
    /// Absent if the proof of work was not checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    hash: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    failed: Vec<Failed>,
}

#[derive(Serialize)]
struct Failed {
    check: &'static str,
    detail: String,
}

impl Line {
    /// Describes a block that the client has adopted.
    pub(super) fn of(block: &TrustedBlock, hash: Option<Hash>) -> Line {
        let status = if block.hashed { Status::Valid } else { Status::Unproven };
        Line {
            height: block.height,
            id: Some(hex::encode(block.id)),
            status: status.as_str(),
            valid: status == Status::Valid,
            difficulty: Some(block.difficulty.to_string()),
            work: block.work,
            complete_start: false,
            hash: hash.map(hex::encode),
            failed: Vec::new(),
        }
    }

    /// Returns the check that failed and its detail, if no other one failed.
    pub(super) fn only_failure(&self) -> Option<(&str, &str)> {
        match &self.failed[..] {
            [Failed { check, detail }] => Some((check, detail)),
            _ => None,
        }
    }

    pub(super) fn print(&self) -> Result<(), Error> {
        output::write(|out: &mut dyn Write| output::json_line(out, self))
    }
}

impl From<Verdict> for Line {
    fn from(verdict: Verdict) -> Line {
        let failed = verdict
            .checks
            .into_iter()
            .filter(|check| matches!(check.outcome, Outcome::Failed | Outcome::UpdateNeeded))
            .map(|check| Failed { check: check.name.as_str(), detail: check.detail });
        Line {
            height: verdict.height,
            id: verdict.id.map(hex::encode),
            status: verdict.status.as_str(),
            valid: verdict.status == Status::Valid,
            difficulty: verdict.difficulty.map(|difficulty| difficulty.to_string()),
            work: verdict.work,
            complete_start: verdict.complete_start,
            hash: verdict.hash.map(hex::encode),
            failed: failed.collect(),
        }
    }
}

fn as_digits<S: Serializer>(number: &u128, json: S) -> Result<S::Ok, S::Error> {
    json.collect_str(number)
}
