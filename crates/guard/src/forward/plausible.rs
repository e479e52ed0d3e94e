//! Bounds of answers that cannot be verified.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::epee::{self, FormatError, Writer, bytes, check_status, once, text};
use crate::json_list::json_list;

use super::facts::Facts;
use super::status::check_json;
use super::{distribution, outputs};

/// The state of a key image that a block has.
const SPENT_IN_BLOCK: u8 = 1;

/// How an answer is checked. An answer with a failed status is not passed on, since another node
/// may succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Plausible {
    /// By its size and its status in JSON.
    Any,
    /// By its size and its status in epee's format.
    Indexes,
    /// As many outputs as requested, with the same keys and commitments if two nodes answer.
    Outputs,
    /// As many distributions as requested, which end near the newest verified block.
    Distribution,
    /// As many states as requested, the same if two nodes answer.
    Spent,
}

#[derive(Deserialize)]
struct SpentRequest<'a> {
    #[serde(borrow, default)]
    key_images: Vec<std::borrow::Cow<'a, str>>,
}

#[derive(Deserialize)]
struct SpentAnswer<'a> {
    #[serde(borrow, default)]
    spent_status: Option<&'a RawValue>,
}

impl Plausible {
    /// Whether two nodes are asked, whose answers are compared by what [`check`](Self::check) returns.
    pub(super) fn is_compared(self) -> bool {
        matches!(self, Plausible::Outputs | Plausible::Spent)
    }

    /// Returns a binary request without the field by which a node recognises a wallet again.
    pub(super) fn rewrite(self, request: &[u8]) -> Result<Vec<u8>, String> {
        let rewritten = match self {
            Plausible::Outputs => outputs::rewrite(request),
            Plausible::Distribution => distribution::rewrite(request),
            Plausible::Any | Plausible::Indexes | Plausible::Spent => rewrite_indexes(request),
        };
        rewritten.map_err(|problem| problem.to_string())
    }

    /// Checks an answer, and returns what it is compared by.
    pub(super) fn check(self, request: &[u8], answer: &[u8], tip: u64) -> Result<Facts, String> {
        let text = |problem: FormatError| problem.to_string();
        match self {
            Plausible::Any => check_json(answer).map(|()| Facts::default()).map_err(text),
            Plausible::Indexes => check_binary(answer).map(|()| Facts::default()).map_err(text),
            Plausible::Outputs => outputs::check(request, answer),
            Plausible::Distribution => distribution::check(request, answer, tip),
            Plausible::Spent => {
                check_json(answer).map_err(text)?;
                let malformed = |problem: serde_json::Error| problem.to_string();
                let SpentRequest { key_images } =
                    serde_json::from_slice(request).map_err(malformed)?;
                let SpentAnswer { spent_status } =
                    serde_json::from_slice(answer).map_err(malformed)?;
                let expected = key_images.len();
                let spent_status: Vec<u8> = json_list(spent_status, expected)
                    .map_err(|problem| format!("spent_status: {problem}"))?;
                let got = spent_status.len();
                if expected != got || spent_status.iter().any(|state| *state > 2) {
                    return Err(format!("spent_status: expected {expected} states, got {got}"));
                }
                // Only blocks are compared: a transaction may not have reached every node's pool yet.
                let in_block = spent_status.iter().map(|state| u8::from(*state == SPENT_IN_BLOCK));
                Ok(Facts { same: in_block.collect(), ..Facts::default() })
            }
        }
    }
}

/// Checks the status of an answer in epee's format.
fn check_binary(answer: &[u8]) -> Result<(), FormatError> {
    let mut status = None;
    epee::read(answer, |name, entry| match name {
        b"status" => once(&mut status, "status", text(entry)?),
        _ => Ok(()),
    })?;
    check_status(status)
}

fn rewrite_indexes(request: &[u8]) -> Result<Vec<u8>, FormatError> {
    let mut id = None;
    epee::read(request, |name, entry| match name {
        b"txid" => once(&mut id, "txid", bytes(entry)?),
        _ => Ok(()),
    })?;
    let mut writer = Writer::new();
    writer.bytes("txid", id.unwrap_or_default());
    Ok(writer.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_answers_are_not_plausible() {
        let check = |plausible: Plausible, answer: &[u8]| plausible.check(b"", answer, 0).is_ok();
        let binary = |status: &str| {
            let mut writer = Writer::new();
            writer.bytes("status", status.as_bytes());
            writer.finish()
        };
        assert!(check(Plausible::Indexes, &binary("OK")));
        assert!(check(Plausible::Any, br#"{"status":"OK"}"#));
        for failed in [&binary("Failed")[..], &Writer::new().finish(), b"<html>", b""] {
            assert!(!check(Plausible::Indexes, failed) && !check(Plausible::Any, failed));
        }
        assert!(!check(Plausible::Any, br#"{"status":"Failed"}"#));
    }

    #[test]
    fn two_nodes_are_asked_for_outputs_and_states() {
        assert!(Plausible::Outputs.is_compared() && Plausible::Spent.is_compared());
    }

    #[test]
    fn states_of_key_images_are_compared_by_what_blocks_have() {
        let check = |states: &str| {
            let answer = format!(r#"{{"spent_status":{states},"status":"OK"}}"#);
            let request = br#"{"key_images":["a","b"]}"#;
            Plausible::Spent.check(request, answer.as_bytes(), 0).map(|facts| facts.same)
        };
        assert_eq!(check("[0,1]"), Ok(vec![0, 1]));
        // One pool has what another does not have yet.
        assert_eq!(check("[2,1]"), Ok(vec![0, 1]));
        for states in ["[]", "[0]", "[0,0,0]", "[0,3]"] {
            assert!(check(states).is_err(), "{states}");
        }
    }
}
