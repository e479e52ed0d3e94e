//! Parsing a node's answers. The chain's verifier decides whether they are true.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, de};
use serde_json::value::RawValue;
use serde_path_to_error::Track;
use thiserror::Error;

use crate::bytes::{self, BytesError};

/// Why an answer does not fit the request.
#[derive(Debug, Error)]
pub(crate) enum FieldError {
    #[error("expected a JSON-RPC answer with a result")]
    NotJsonRpc,
    #[error("{path}: {message}")]
    Field { path: String, message: String },
    #[error("block_header.height: expected {asked}, got {got}")]
    Height { asked: u64, got: u64 },
    #[error("block_header.orphan_status: block {height} is not in the node's chain")]
    Orphan { height: u64 },
    #[error("headers: expected {asked}, got {got}")]
    Count { asked: u64, got: usize },
    #[error("blob: {0}")]
    Blob(#[from] BytesError),
}

/// A node's description of itself and its chain.
#[derive(Debug, Deserialize)]
pub(crate) struct Info {
    /// The number of blocks of its chain; the last one's height is one less.
    pub(crate) height: u64,
}

/// A node's description of a block.
#[derive(Debug, Deserialize)]
pub(crate) struct Header {
    pub(crate) height: u64,
    /// The block's id.
    #[serde(rename = "hash", deserialize_with = "hash")]
    pub(crate) id: [u8; 32],
    /// Seconds since 1970.
    pub(crate) timestamp: u64,
    /// The difficulty that the network required.
    #[serde(rename = "wide_difficulty", deserialize_with = "wide")]
    pub(crate) difficulty: u128,
    orphan_status: bool,
}

#[derive(Deserialize)]
struct HeaderAnswer {
    block_header: Header,
}

#[derive(Deserialize)]
struct HeadersAnswer {
    headers: Vec<Header>,
}

#[derive(Deserialize)]
struct BlockAnswer<'a> {
    block_header: Header,
    #[serde(borrow)]
    blob: Cow<'a, str>,
}

/// Parses the result of `get_info`.
pub(crate) fn info(json: &RawValue) -> Result<Info, FieldError> {
    parse(json)
}

/// Parses a result's header, which must be that of the requested block.
pub(crate) fn header(json: &RawValue, asked: u64) -> Result<Header, FieldError> {
    let HeaderAnswer { block_header } = parse(json)?;
    of_height(block_header, asked)
}

/// Parses the result of `get_block_headers_range`, which must have all headers in order.
pub(crate) fn headers(json: &RawValue, first: u64, last: u64) -> Result<Vec<Header>, FieldError> {
    let HeadersAnswer { headers } = parse(json)?;
    let asked = last - first + 1;
    if headers.len() as u64 != asked {
        return Err(FieldError::Count { asked, got: headers.len() });
    }
    headers.into_iter().zip(first..).map(|(header, height)| of_height(header, height)).collect()
}

/// Parses the header and the blob in the result of `get_block`.
pub(crate) fn block(json: &RawValue, asked: u64) -> Result<(Header, Vec<u8>), FieldError> {
    let BlockAnswer { block_header, blob } = parse(json)?;
    Ok((of_height(block_header, asked)?, bytes::from_hex(&blob)?))
}

fn of_height(header: Header, asked: u64) -> Result<Header, FieldError> {
    if header.height != asked {
        return Err(FieldError::Height { asked, got: header.height });
    }
    if header.orphan_status {
        return Err(FieldError::Orphan { height: asked });
    }
    Ok(header)
}

/// Parses a result. The error names the field.
fn parse<'a, T: Deserialize<'a>>(json: &'a RawValue) -> Result<T, FieldError> {
    let mut track = Track::new();
    let mut json = serde_json::Deserializer::from_str(json.get());
    T::deserialize(serde_path_to_error::Deserializer::new(&mut json, &mut track)).map_err(|error| {
        let path = track.path().to_string();
        let path = if path == "." { "result".to_owned() } else { path };
        // An answer is one long line, so the position in it is useless.
        let message = error.to_string();
        let message = message.split(" at line ").next().unwrap_or_default();
        FieldError::Field { path, message: message.chars().take(200).collect() }
    })
}

fn hash<'de, D: Deserializer<'de>>(json: D) -> Result<[u8; 32], D::Error> {
    let text = Cow::<'_, str>::deserialize(json)?;
    bytes::hash_from_hex(&text).map_err(de::Error::custom)
}

/// Parses a number of up to 128 bits, at least 1, which the daemon writes in hex.
fn wide<'de, D: Deserializer<'de>>(json: D) -> Result<u128, D::Error> {
    let text = Cow::<'_, str>::deserialize(json)?;
    let digits = text.strip_prefix("0x").filter(|digits| !digits.starts_with('+'));
    match digits.map(|digits| u128::from_str_radix(digits, 16)) {
        Some(Ok(number)) if number > 0 => Ok(number),
        _ => Err(de::Error::custom("expected 0x and 1 to 32 hex digits, not zero")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn raw(json: &Value) -> Box<RawValue> {
        serde_json::value::to_raw_value(json).expect("JSON")
    }

    /// A block as the daemon returns it, with one field of its header changed.
    fn answer(field: &str, value: Value) -> Box<RawValue> {
        let mut answer = json!({
            "status": "OK",
            "blob": "0a0b",
            "json": "other fields are ignored",
            "block_header": {
                "height": 8,
                "hash": "11".repeat(32),
                "timestamp": 1_700_000_000,
                "orphan_status": false,
                "wide_difficulty": "0x20000000000000001",
            },
        });
        match answer.get_mut(field) {
            Some(found) => *found = value,
            None => answer["block_header"][field] = value,
        }
        raw(&answer)
    }

    #[test]
    fn a_block_is_parsed() {
        let answer = answer("more", json!(1));
        let (header, blob) = block(&answer, 8).expect("a block");
        assert_eq!(blob, [10, 11]);
        assert_eq!((header.height, header.id, header.timestamp), (8, [0x11; 32], 1_700_000_000));
        assert_eq!(header.difficulty, (1 << 65) + 1);
    }

    #[test]
    fn a_wrong_field_is_named() {
        let wide = "expected 0x and 1 to 32 hex digits, not zero";
        for (field, value, sentence) in [
            ("height", json!(9), "block_header.height: expected 8, got 9"),
            ("height", json!("8"), "block_header.height: invalid type: string \"8\", expected u64"),
            ("height", json!(-8), "block_header.height: invalid value: integer `-8`, expected u64"),
            (
                "hash",
                json!("11"),
                "block_header.hash: expected 32 bytes (64 hex characters), got 1 bytes",
            ),
            ("hash", json!("xx"), "block_header.hash: 'x' at position 1 is not a hex digit"),
            (
                "orphan_status",
                json!(true),
                "block_header.orphan_status: block 8 is not in the node's chain",
            ),
            ("timestamp", json!(0.5), "block_header.timestamp: invalid type: floating point `0.5`"),
            ("wide_difficulty", json!("0x0"), &format!("block_header.wide_difficulty: {wide}")),
            ("wide_difficulty", json!("0x+1"), &format!("block_header.wide_difficulty: {wide}")),
            ("wide_difficulty", json!("11"), &format!("block_header.wide_difficulty: {wide}")),
            (
                "wide_difficulty",
                json!(format!("0x{}", "f".repeat(33))),
                &format!("block_header.wide_difficulty: {wide}"),
            ),
            ("blob", json!("0a0"), "blob: odd number of hex digits (3)"),
            ("blob", json!(null), "blob: invalid type: null, expected a string"),
            ("block_header", json!({}), "block_header: missing field `height`"),
        ] {
            let error = block(&answer(field, value), 8).expect_err(field).to_string();
            assert!(error.starts_with(sentence), "{error}");
        }
    }

    #[test]
    fn headers_must_be_those_requested() {
        let one = |height: u64| {
            let block: Value =
                serde_json::from_str(answer("height", json!(height)).get()).expect("JSON");
            block["block_header"].clone()
        };
        let read = |heights: &[u64]| {
            let list: Vec<Value> = heights.iter().map(|&height| one(height)).collect();
            headers(&raw(&json!({ "headers": list })), 4, 5)
                .map(|headers| headers.len())
                .map_err(|error| error.to_string())
        };
        assert_eq!(read(&[4, 5]), Ok(2));
        assert_eq!(read(&[4]), Err("headers: expected 2, got 1".to_owned()));
        assert_eq!(read(&[4, 5, 6]), Err("headers: expected 2, got 3".to_owned()));
        assert_eq!(read(&[4, 4]), Err("block_header.height: expected 5, got 4".to_owned()));
    }
}
