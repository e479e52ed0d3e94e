//! A node's answers, parsed field by field. Whether they are true is for the chain's rules to decide.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, de};
use serde_json::value::RawValue;
use serde_path_to_error::Track;
use thiserror::Error;

use crate::bytes::{self, BytesError};

/// The reason why an answer is not usable.
#[derive(Debug, Error)]
pub enum FieldError {
    /// It is something else than a JSON-RPC result.
    #[error("expected a JSON-RPC answer with a result")]
    NotJsonRpc,
    /// A field is missing or has another type.
    #[error("{path}: {message}")]
    Field {
        /// The field.
        path: String,
        /// The problem.
        message: String,
    },
    /// It is about another block.
    #[error("block_header.height: expected {asked}, got {got}")]
    Height {
        /// The requested height.
        asked: u64,
        /// The height in the answer.
        got: u64,
    },
    /// It is about a block that the node's chain does not have.
    #[error("block_header.orphan_status: block {height} is not in the node's chain")]
    Orphan {
        /// The block's height.
        height: u64,
    },
    /// There are more or fewer headers.
    #[error("headers: expected {asked}, got {got}")]
    Count {
        /// The requested number.
        asked: u64,
        /// The number in the answer.
        got: usize,
    },
    /// The blob is not hexadecimal.
    #[error("blob: {0}")]
    Blob(#[from] BytesError),
}

/// The state of a node.
#[derive(Debug, Deserialize)]
pub struct Info {
    /// The number of blocks in its chain; the last one's height is one less.
    pub height: u64,
    /// The id of the last block, if the node gives one.
    #[serde(default, deserialize_with = "optional_hash")]
    pub top_block_hash: Option<[u8; 32]>,
}

/// A block's header, as a node describes it.
#[derive(Debug, Deserialize)]
pub struct Header {
    /// The block's height.
    pub height: u64,
    /// The block's id.
    #[serde(rename = "hash", deserialize_with = "hash")]
    pub id: [u8; 32],
    /// Seconds since 1970.
    pub timestamp: u64,
    /// The difficulty that the network demanded.
    #[serde(rename = "wide_difficulty", deserialize_with = "wide")]
    pub difficulty: u128,
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
pub fn info(json: &RawValue) -> Result<Info, FieldError> {
    parse(json)
}

/// Parses a header, which must be that of the requested height.
pub fn header(json: &RawValue, asked: u64) -> Result<Header, FieldError> {
    let HeaderAnswer { block_header } = parse(json)?;
    of_height(block_header, asked)
}

/// Parses the result of `get_block_headers_range`, which must have all headers in order.
pub fn headers(json: &RawValue, first: u64, last: u64) -> Result<Vec<Header>, FieldError> {
    let HeadersAnswer { headers } = parse(json)?;
    let asked = last - first + 1;
    if headers.len() as u64 != asked {
        return Err(FieldError::Count { asked, got: headers.len() });
    }
    headers.into_iter().zip(first..).map(|(header, height)| of_height(header, height)).collect()
}

/// Parses the result of `get_block`.
pub fn block(json: &RawValue, asked: u64) -> Result<(Header, Vec<u8>), FieldError> {
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

/// Parses a result. Errors name the field.
fn parse<'a, T: Deserialize<'a>>(json: &'a RawValue) -> Result<T, FieldError> {
    let mut track = Track::new();
    let mut json = serde_json::Deserializer::from_str(json.get());
    T::deserialize(serde_path_to_error::Deserializer::new(&mut json, &mut track)).map_err(|error| {
        let path = track.path().to_string();
        let path = if path == "." { "result".to_owned() } else { path };
        // An answer is one long line, so a position in it helps nobody.
        let message = error.to_string();
        let message = message.split(" at line ").next().unwrap_or_default();
        FieldError::Field { path, message: message.chars().take(200).collect() }
    })
}

fn optional_hash<'de, D: Deserializer<'de>>(json: D) -> Result<Option<[u8; 32]>, D::Error> {
    hash(json).map(Some)
}

fn hash<'de, D: Deserializer<'de>>(json: D) -> Result<[u8; 32], D::Error> {
    let text = Cow::<'_, str>::deserialize(json)?;
    bytes::hash_from_hex(&text).map_err(de::Error::custom)
}

/// Parses a number of up to 128 bits, at least 1, which the daemon writes in hexadecimal.
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

    /// A block in the daemon's form, with one field of its header changed.
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
    fn blocks_are_parsed() {
        let answer = answer("more", json!(1));
        let (header, blob) = block(&answer, 8).expect("a block");
        assert_eq!(blob, [10, 11]);
        assert_eq!((header.height, header.id, header.timestamp), (8, [0x11; 32], 1_700_000_000));
        assert_eq!(header.difficulty, (1 << 65) + 1);
    }

    #[test]
    fn errors_name_the_field() {
        let wide = "expected 0x and 1 to 32 hex digits, not zero";
        for (field, value, sentence) in [
            ("height", json!(9), "block_header.height: expected 8, got 9"),
            ("height", json!("8"), "block_header.height: invalid type: string \"8\", expected u64"),
            ("height", json!(-8), "block_header.height: invalid value: integer `-8`, expected u64"),
            (
                "hash",
                json!("11"),
                "block_header.hash: expected 32 bytes (64 hex digits), got 1 bytes",
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
    fn a_field_that_is_there_twice_is_refused() {
        let answer = answer("more", json!(1));
        for (field, value) in
            [("blob", json!("0a0b")), ("height", json!(8)), ("timestamp", json!(1))]
        {
            let name = format!("\"{field}\":");
            assert_eq!(answer.get().matches(&name).count(), 1);
            let twice = answer.get().replace(&name, &format!("{name}{value},{name}"));
            let twice: &RawValue = serde_json::from_str(&twice).expect("JSON");
            let error = block(twice, 8).expect_err(field).to_string();
            assert!(error.contains(&format!("duplicate field `{field}`")), "{error}");
        }
    }

    #[test]
    fn headers_must_be_the_requested_ones() {
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
