//! Bounds of answers that cannot be verified.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::epee::{self, FormatError, Writer, boolean, bytes, hashes, list, number, once, text};
use crate::json_list::json_list;

/// The most outputs in a request. Restricted nodes answer 5,000.
const MAX_OUTPUTS: usize = 65_536;

/// The state of a key image that a block has.
const SPENT_IN_BLOCK: u8 = 1;

/// How many blocks a node may be ahead of the guard or behind it.
const AHEAD: u64 = 10;

/// How an answer is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Plausible {
    /// By its size alone.
    Any,
    /// As many outputs as requested, with the same keys at two nodes.
    Outputs,
    /// A distribution that ends near the newest verified block.
    Distribution,
    /// As many states as requested, the same at two nodes.
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
    /// Whether two nodes are asked, whose answers must agree in what [`check`](Self::check) returns.
    pub(super) fn is_compared(self) -> bool {
        matches!(self, Plausible::Outputs | Plausible::Spent)
    }

    /// Returns a binary request without the field by which a node recognises a wallet again.
    pub(super) fn rewrite(self, request: &[u8]) -> Result<Vec<u8>, String> {
        let rewritten = match self {
            Plausible::Outputs => rewrite_outputs(request),
            Plausible::Distribution => rewrite_distribution(request),
            Plausible::Any | Plausible::Spent => rewrite_indexes(request),
        };
        rewritten.map_err(|problem| problem.to_string())
    }

    /// Checks an answer, and returns what should be the same at every node.
    pub(super) fn check(self, request: &[u8], answer: &[u8], tip: u64) -> Result<Vec<u8>, String> {
        let text = |problem: FormatError| problem.to_string();
        match self {
            Plausible::Any => Ok(Vec::new()),
            Plausible::Outputs => {
                let wanted = requested_outputs(request).map_err(text)?.len();
                let keys = output_keys(answer).map_err(text)?;
                if keys.len() != wanted * 64 {
                    return Err(format!("outs: expected {wanted}, got {}", keys.len() / 64));
                }
                Ok(keys)
            }
            Plausible::Distribution => {
                let ends = distribution_ends(answer).map_err(text)?;
                if last_requested(request).map_err(text)? != 0 {
                    return Ok(Vec::new());
                }
                match ends.iter().find(|end| end.abs_diff(tip + 1) > AHEAD) {
                    None => Ok(Vec::new()),
                    Some(end) => {
                        Err(format!("the distribution ends before block {end}, not {tip}"))
                    }
                }
            }
            Plausible::Spent => {
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
                Ok(spent_status.iter().map(|state| u8::from(*state == SPENT_IN_BLOCK)).collect())
            }
        }
    }
}

fn requested_outputs(request: &[u8]) -> Result<Vec<(u64, u64)>, FormatError> {
    let mut outputs = None;
    epee::read(request, |name, entry| match name {
        b"outputs" => {
            let read = list(entry, MAX_OUTPUTS, |entry| {
                let (mut amount, mut index) = (None, None);
                epee::object(entry, |name, entry| match name {
                    b"amount" => once(&mut amount, "amount", number(entry)?),
                    b"index" => once(&mut index, "index", number(entry)?),
                    _ => Ok(()),
                })?;
                Ok((amount.unwrap_or(0), index.unwrap_or(0)))
            })?;
            once(&mut outputs, "outputs", read)
        }
        _ => Ok(()),
    })?;
    Ok(outputs.unwrap_or_default())
}

fn rewrite_outputs(request: &[u8]) -> Result<Vec<u8>, FormatError> {
    let outputs = requested_outputs(request)?;
    let mut get_txid = None;
    epee::read(request, |name, entry| match name {
        b"get_txid" => once(&mut get_txid, "get_txid", boolean(entry)?),
        _ => Ok(()),
    })?;
    let mut writer = Writer::new();
    writer.flag("get_txid", get_txid.unwrap_or(true));
    writer.objects("outputs", outputs.len(), |writer, place| {
        let (amount, index) = outputs[place];
        writer.number("amount", amount);
        writer.number("index", index);
    });
    Ok(writer.finish())
}

/// Returns the key and the commitment of each output in an answer.
fn output_keys(answer: &[u8]) -> Result<Vec<u8>, FormatError> {
    let (mut status, mut outputs) = (None, None);
    epee::read(answer, |name, entry| match name {
        b"status" => once(&mut status, "status", text(entry)?),
        b"outs" => {
            let mut keys = Vec::new();
            list(entry, MAX_OUTPUTS, |entry| {
                let (mut key, mut mask) = (None, None);
                epee::object(entry, |name, entry| match name {
                    b"key" => once(&mut key, "key", hashes(entry)?),
                    b"mask" => once(&mut mask, "mask", hashes(entry)?),
                    _ => Ok(()),
                })?;
                let (Some([key]), Some([mask])) = (key, mask) else {
                    return Err(FormatError::Hashes);
                };
                keys.extend([key, mask].map(|bytes| &bytes[..]).concat());
                Ok(())
            })?;
            once(&mut outputs, "outs", keys)
        }
        _ => Ok(()),
    })?;
    match status {
        Some("OK") => Ok(outputs.unwrap_or_default()),
        // The wallet reads why.
        other => Err(FormatError::Status(other.unwrap_or_default().chars().take(200).collect())),
    }
}

fn rewrite_distribution(request: &[u8]) -> Result<Vec<u8>, FormatError> {
    let (mut amounts, mut from, mut to) = (None, None, None);
    let (mut cumulative, mut binary, mut compress) = (None, None, None);
    epee::read(request, |name, entry| match name {
        b"amounts" => once(&mut amounts, "amounts", list(entry, MAX_OUTPUTS, number)?),
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

/// Returns the last height that a request names, or 0.
fn last_requested(request: &[u8]) -> Result<u64, FormatError> {
    let mut to = None;
    epee::read(request, |name, entry| match name {
        b"to_height" => once(&mut to, "to_height", number(entry)?),
        _ => Ok(()),
    })?;
    Ok(to.unwrap_or(0))
}

/// Returns for each distribution the height after its last block.
fn distribution_ends(answer: &[u8]) -> Result<Vec<u64>, FormatError> {
    const MOST: usize = 64;
    let mut ends = None;
    epee::read(answer, |name, entry| match name {
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
    Ok(ends.unwrap_or_default())
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

    /// Returns a request for so many outputs.
    fn outputs(count: usize) -> Vec<u8> {
        let mut writer = Writer::new();
        writer.objects("outputs", count, |writer, index| writer.number("index", index as u64));
        writer.finish()
    }

    /// Returns an answer with the key and the commitment of each output.
    fn keys(status: &str, outputs: &[[u8; 2]]) -> Vec<u8> {
        let mut writer = Writer::new();
        writer.bytes("status", status.as_bytes());
        writer.objects("outs", outputs.len(), |writer, index| {
            let [key, mask] = outputs[index];
            writer.bytes("key", &[key; 32]);
            writer.bytes("mask", &[mask; 32]);
        });
        writer.finish()
    }

    #[test]
    fn outputs_are_compared_by_key_and_commitment() {
        assert!(Plausible::Outputs.is_compared() && Plausible::Spent.is_compared());
        let check = |answer: &[u8]| Plausible::Outputs.check(&outputs(2), answer, 0);
        let honest = check(&keys("OK", &[[1, 2], [3, 4]])).expect("plausible");
        for other in [[[9, 2], [3, 4]], [[1, 9], [3, 4]], [[1, 2], [3, 9]], [[3, 4], [1, 2]]] {
            assert_ne!(check(&keys("OK", &other)).expect("plausible"), honest);
        }
        for count in [0, 1, 3] {
            assert!(check(&keys("OK", &vec![[1, 2]; count])).is_err(), "{count}");
        }
        assert!(check(&keys("Failed", &[[1, 2], [3, 4]])).is_err());
    }

    #[test]
    fn a_distribution_ends_near_the_tip() {
        const TIP: u64 = 1000;
        let request = |to| {
            let mut writer = Writer::new();
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
    fn states_of_key_images_are_compared_by_what_blocks_have() {
        let check = |states: &str| {
            let answer = format!(r#"{{"spent_status":{states}}}"#);
            Plausible::Spent.check(br#"{"key_images":["a","b"]}"#, answer.as_bytes(), 0)
        };
        assert_eq!(check("[0,1]"), Ok(vec![0, 1]));
        // One pool has what another does not have yet.
        assert_eq!(check("[2,1]"), Ok(vec![0, 1]));
        for states in ["[]", "[0]", "[0,0,0]", "[0,3]"] {
            assert!(check(states).is_err(), "{states}");
        }
    }
}
