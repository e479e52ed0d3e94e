//! Bounds of answers that cannot be verified.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::epee::{
    self, FormatError, Writer, boolean, bytes, check_status, list, number, once, text,
};
use crate::json_list::json_list;

use super::facts::Facts;
use super::outputs;
use super::status::check_json;

/// The most amounts in a request.
const MAX_AMOUNTS: usize = 65_536;

/// The state of a key image that a block has.
const SPENT_IN_BLOCK: u8 = 1;

/// How many blocks a node may be ahead of the guard or behind it.
const AHEAD: u64 = 10;

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
            Plausible::Distribution => rewrite_distribution(request),
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
            Plausible::Distribution => {
                let (wanted, last) = requested_distributions(request).map_err(text)?;
                let ends = distribution_ends(answer).map_err(text)?;
                if ends.len() != wanted {
                    return Err(format!("distributions: expected {wanted}, got {}", ends.len()));
                }
                if last != 0 {
                    return Ok(Facts::default());
                }
                match ends.iter().find(|end| end.abs_diff(tip + 1) > AHEAD) {
                    None => Ok(Facts::default()),
                    Some(end) => {
                        Err(format!("the distribution ends before block {end}, not {tip}"))
                    }
                }
            }
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
                // What one pool has, another may not have yet.
                let in_block = spent_status.iter().map(|state| u8::from(*state == SPENT_IN_BLOCK));
                Ok(Facts { same: in_block.collect(), ..Facts::default() })
            }
        }
    }
}

fn rewrite_distribution(request: &[u8]) -> Result<Vec<u8>, FormatError> {
    let (mut amounts, mut from, mut to) = (None, None, None);
    let (mut cumulative, mut binary, mut compress) = (None, None, None);
    epee::read(request, |name, entry| match name {
        b"amounts" => once(&mut amounts, "amounts", list(entry, MAX_AMOUNTS, number)?),
        b"from_height" => once(&mut from, "from_height", number(entry)?),
        b"to_height" => once(&mut to, "to_height", number(entry)?),
        b"cumulative" => once(&mut cumulative, "cumulative", boolean(entry)?),
        b"binary" => once(&mut binary, "binary", boolean(entry)?),
        b"compress" => once(&mut compress, "compress", boolean(entry)?),
        _ => Ok(()),
    })?;
    let mut writer = Writer::new();
    writer.numbers("amounts", &amounts.unwrap_or_default());
    writer.number("from_height", from.unwrap_or(0));
    writer.number("to_height", to.unwrap_or(0));
    writer.flag("cumulative", cumulative.unwrap_or(false));
    writer.flag("binary", binary.unwrap_or(true));
    writer.flag("compress", compress.unwrap_or(false));
    Ok(writer.finish())
}

/// Returns the number of distributions that a request asks for, and the last height that it names, or 0.
fn requested_distributions(request: &[u8]) -> Result<(usize, u64), FormatError> {
    let (mut amounts, mut to) = (None, None);
    epee::read(request, |name, entry| match name {
        b"amounts" => once(&mut amounts, "amounts", list(entry, MAX_AMOUNTS, number)?.len()),
        b"to_height" => once(&mut to, "to_height", number(entry)?),
        _ => Ok(()),
    })?;
    Ok((amounts.unwrap_or(0), to.unwrap_or(0)))
}

/// Returns for each distribution the height after its last block.
fn distribution_ends(answer: &[u8]) -> Result<Vec<u64>, FormatError> {
    const MOST: usize = 64;
    let (mut status, mut ends) = (None, None);
    epee::read(answer, |name, entry| match name {
        b"status" => once(&mut status, "status", text(entry)?),
        b"distributions" => {
            let read = list(entry, MOST, |entry| {
                let (mut start, mut plain, mut compressed) = (None, None, None);
                epee::object(entry, |name, entry| match name {
                    b"start_height" => once(&mut start, "start_height", number(entry)?),
                    b"distribution" => once(&mut plain, "distribution", bytes(entry)?),
                    b"compressed_data" => once(&mut compressed, "compressed_data", bytes(entry)?),
                    _ => Ok(()),
                })?;
                let packed: &[u8] = compressed.unwrap_or_default();
                // The last byte of a number has no highest bit.
                let numbers = packed.iter().filter(|byte| **byte < 0x80).count();
                let count = plain.map_or(numbers, |plain: &[u8]| plain.len() / 8) as u64;
                Ok(start.unwrap_or(0_u64).saturating_add(count))
            })?;
            once(&mut ends, "distributions", read)
        }
        _ => Ok(()),
    })?;
    check_status(status)?;
    Ok(ends.unwrap_or_default())
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
    fn a_distribution_ends_near_the_tip() {
        const TIP: u64 = 1000;
        let request = |to| {
            let mut writer = Writer::new();
            writer.numbers("amounts", &[0]);
            writer.number("to_height", to);
            writer.finish()
        };
        // Ten blocks.
        let plain: (_, &[u8]) = ("distribution", &[0; 80]);
        let compressed: (_, &[u8]) =
            ("compressed_data", &[0x80, 1, 2, 3, 4, 5, 6, 7, 0xff, 8, 9, 10]);
        for (name, numbers) in [plain, compressed] {
            let check = |to, end: u64| {
                let mut writer = Writer::new();
                writer.bytes("status", b"OK");
                writer.objects("distributions", 1, |writer, _| {
                    writer.number("start_height", end - 10);
                    writer.bytes(name, numbers);
                });
                Plausible::Distribution.check(&request(to), &writer.finish(), TIP).is_ok()
            };
            for (end, is_near) in
                [(990, false), (991, true), (1001, true), (1011, true), (1012, false)]
            {
                assert_eq!(check(0, end), is_near, "{name}, {end}");
                // The wallet chose this end.
                assert!(check(500, end));
            }
        }
    }

    #[test]
    fn a_distribution_for_each_amount_is_expected() {
        let check = |status: &str, amounts: &[u64], count: usize| {
            let (mut request, mut answer) = (Writer::new(), Writer::new());
            request.numbers("amounts", amounts);
            answer.bytes("status", status.as_bytes());
            answer.objects("distributions", count, |writer, _| writer.number("start_height", 9));
            Plausible::Distribution.check(&request.finish(), &answer.finish(), 9).is_ok()
        };
        for (amounts, count) in [(&[][..], 0), (&[0], 1), (&[0, 5], 2)] {
            assert!(check("OK", amounts, count) && !check("Failed", amounts, count), "{amounts:?}");
        }
        for (amounts, count) in [(&[0][..], 0), (&[0], 2), (&[], 1)] {
            assert!(!check("OK", amounts, count), "{amounts:?}");
        }
    }

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
