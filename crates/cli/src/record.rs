//! Parsing one JSON line into a record, with errors that name the field.

use std::{borrow::Cow, fmt};

use randomx::Version;
use randomx_monero::{Difficulty, DifficultyError};
use serde::{
    Deserialize, Deserializer,
    de::{self, Unexpected, Visitor},
};
use serde_json::{error::Category, value::RawValue};
use serde_path_to_error::Track;
use thiserror::Error;

use crate::bytes::BytesError;

/// Why a line cannot be parsed.
#[derive(Debug, Error)]
pub(crate) enum LineError {
    #[error("longer than {limit} bytes")]
    TooLong { limit: usize },
    #[error("not UTF-8 at byte {position}")]
    NotUtf8 { position: usize },
    #[error("expected UTF-8 without a byte order mark")]
    ByteOrderMark,
    #[error("expected a JSON object, got a blank line")]
    Blank,
    #[error("expected a JSON object")]
    NotAnObject,
    #[error("incomplete JSON object")]
    Incomplete,
    #[error("{message} ({position})")]
    Json { message: String, position: String },
    #[error("{name}: {problem}")]
    Field { name: &'static str, problem: FieldError },
}

/// Why a field's value is unusable.
#[derive(Debug, Error)]
#[error(transparent)]
pub(crate) enum FieldError {
    Bytes(#[from] BytesError),
    Difficulty(#[from] DifficultyError),
    #[error("expected an integer, or its decimal digits in a string")]
    DifficultyType,
}

impl LineError {
    /// Returns a function for `map_err` that adds the field's name to its problem.
    pub(crate) fn field<E: Into<FieldError>>(name: &'static str) -> impl FnOnce(E) -> LineError {
        move |problem| LineError::Field { name, problem: problem.into() }
    }
}

/// Parses a whole line as the JSON object `T`.
pub(crate) fn parse<'a, T: Deserialize<'a>>(line: &'a str) -> Result<T, LineError> {
    let json = line.trim_ascii_start();
    if json.is_empty() {
        return Err(LineError::Blank);
    }
    if json.starts_with('\u{feff}') {
        return Err(LineError::ByteOrderMark);
    }
    // Serde would accept an array of the fields' values.
    if !json.starts_with('{') {
        return Err(LineError::NotAnObject);
    }
    let mut json = serde_json::Deserializer::from_str(line);
    let mut track = Track::new();
    let record = T::deserialize(serde_path_to_error::Deserializer::new(&mut json, &mut track))
        .map_err(|error| json_error(&error, &track.path().to_string()))?;
    json.end().map_err(|error| json_error(&error, ""))?;
    Ok(record)
}

/// Parses `"version": 1` or `2`.
pub(crate) fn version<'de, D: Deserializer<'de>>(json: D) -> Result<Version, D::Error> {
    struct OneOrTwo;

    impl Visitor<'_> for OneOrTwo {
        type Value = Version;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("1 or 2")
        }

        fn visit_u64<E: de::Error>(self, number: u64) -> Result<Version, E> {
            Version::try_from(number)
                .map_err(|_| E::invalid_value(Unexpected::Unsigned(number), &self))
        }
    }

    json.deserialize_u64(OneOrTwo)
}

/// Parses a difficulty: a JSON integer of any size, or a string of decimal digits.
pub(crate) fn difficulty(json: &RawValue) -> Result<Difficulty, FieldError> {
    let text = json.get();
    match text.as_bytes().first() {
        Some(b'"') => {
            let digits: Cow<'_, str> =
                serde_json::from_str(text).map_err(|_| FieldError::DifficultyType)?;
            Ok(digits.parse()?)
        }
        Some(b'-' | b'0'..=b'9') => Ok(text.parse()?),
        _ => Err(FieldError::DifficultyType),
    }
}

fn json_error(error: &serde_json::Error, path: &str) -> LineError {
    if error.classify() == Category::Eof {
        return LineError::Incomplete;
    }
    let (line, column) = (error.line(), error.column());
    let message = error.to_string();
    let suffix = format!(" at line {line} column {column}");
    let message = shorten(message.strip_suffix(&suffix).unwrap_or(&message));
    // Serde's messages about unknown, missing and duplicate fields name the field.
    let named = error.classify() != Category::Data || path == "." || message.contains(" field `");
    LineError::Json {
        message: if named { message } else { format!("{path}: {message}") },
        // A body of a request may have many lines.
        position: if line == 1 {
            format!("column {column}")
        } else {
            format!("line {line}, column {column}")
        },
    }
}

/// Shortens a message that may quote a megabyte of input.
fn shorten(message: &str) -> String {
    const MOST: usize = 200;
    match message.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &message[..end]),
        None => message.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Example<'a> {
        #[serde(default, deserialize_with = "version")]
        version: Version,
        #[serde(borrow)]
        key: Cow<'a, str>,
    }

    #[derive(Deserialize)]
    struct Target<'a> {
        #[serde(borrow)]
        difficulty: &'a RawValue,
    }

    fn error(line: &str) -> String {
        parse::<Example<'_>>(line).expect_err(line).to_string()
    }

    fn parse_difficulty(json: &str) -> Result<String, String> {
        let line = format!(r#"{{"difficulty":{json}}}"#);
        let record: Target<'_> = parse(&line).map_err(|error| error.to_string())?;
        difficulty(record.difficulty)
            .map(|difficulty| difficulty.to_string())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn a_record_borrows_from_its_line() {
        let record: Example<'_> = parse(r#" {"key": "ab", "version": 2} "#).expect("a record");
        assert!(matches!(record.key, Cow::Borrowed("ab")));
        assert_eq!(record.version, Version::V2);
        let record: Example<'_> = parse(r#"{"key":"\u0061b"}"#).expect("a record");
        assert_eq!(record.key, "ab");
        assert_eq!(record.version, Version::V1);
    }

    #[test]
    fn a_wrong_type_names_the_field() {
        for (line, message) in [
            (r#"{"key":5}"#, "key: invalid type: integer `5`, expected a string (column 8)"),
            (r#"{"key":null}"#, "key: invalid type: null, expected a string (column 11)"),
            (r#"{"key":["a"]}"#, "key: invalid type: sequence, expected a string (column 7)"),
            (
                r#"{"version":3}"#,
                "version: invalid value: integer `3`, expected 1 or 2 (column 12)",
            ),
            (
                r#"{"version":-1}"#,
                "version: invalid type: integer `-1`, expected 1 or 2 (column 13)",
            ),
            (
                r#"{"version":1.0}"#,
                "version: invalid type: floating point `1.0`, expected 1 or 2 (column 14)",
            ),
            (
                r#"{"version":"1"}"#,
                "version: invalid type: string \"1\", expected 1 or 2 (column 14)",
            ),
        ] {
            assert_eq!(error(line), message);
        }
    }

    #[test]
    fn unknown_missing_and_duplicate_fields_are_named_once() {
        let fields = "expected `version` or `key`";
        for (line, message) in [
            (r#"{"keys":""}"#, format!("unknown field `keys`, {fields} (column 7)")),
            (r#"{"version":1}"#, "missing field `key` (column 13)".to_owned()),
            (r#"{"key":"","key":""}"#, "duplicate field `key` (column 15)".to_owned()),
        ] {
            assert_eq!(error(line), message);
        }
    }

    #[test]
    fn only_objects_are_accepted() {
        for line in ["[]", r#"[1,""]"#, "1", "null", r#""key""#, "key"] {
            assert_eq!(error(line), "expected a JSON object");
        }
        for line in ["", " ", "\t"] {
            assert_eq!(error(line), "expected a JSON object, got a blank line");
        }
        assert_eq!(error("\u{feff}{}"), "expected UTF-8 without a byte order mark");
    }

    #[test]
    fn a_line_that_ends_early_is_incomplete() {
        let line = r#"{"version":1,"key":"ab"}"#;
        for end in 1..line.len() {
            assert_eq!(error(&line[..end]), "incomplete JSON object", "{end}");
        }
    }

    #[test]
    fn text_after_the_object_is_refused() {
        assert_eq!(error(r#"{"key":""} {}"#), "trailing characters (column 12)");
        assert_eq!(error(r#"{"key":"",}"#), "trailing comma (column 11)");
        assert_eq!(error("{\n\"key\":\"\",\n}"), "trailing comma (line 3, column 1)");
        assert_eq!(error(r#"{"key":NaN}"#), "expected value (column 8)");
    }

    #[test]
    fn a_message_does_not_repeat_a_megabyte() {
        let line = format!(r#"{{"{}":1}}"#, "é".repeat(1 << 20));
        assert!(error(&line).chars().count() < 250);
    }

    #[test]
    fn a_difficulty_is_an_integer_or_its_digits() {
        let greatest =
            "115792089237316195423570985008687907853269984665640564039457584007913129639935";
        for json in ["1", "716071628829", "18446744073709551616", greatest] {
            assert_eq!(parse_difficulty(json), Ok(json.to_owned()));
            assert_eq!(parse_difficulty(&format!("\"{json}\"")), Ok(json.to_owned()));
        }
        assert_eq!(parse_difficulty(r#""\u0037""#), Ok("7".to_owned()));
    }

    #[test]
    fn an_unusable_difficulty_has_a_reason() {
        let digits = "expected only decimal digits (no sign, fraction or exponent)";
        let wrong_type = "expected an integer, or its decimal digits in a string";
        let too_large = "expected at most 2^256 - 1, got more";
        let over = "115792089237316195423570985008687907853269984665640564039457584007913129639936";
        for (json, message) in [
            ("0", "expected at least 1, got 0"),
            ("\"0\"", "expected at least 1, got 0"),
            ("\"\"", "expected decimal digits, got nothing"),
            ("-1", digits),
            ("1.5", digits),
            ("1.0", digits),
            ("1e9", digits),
            ("1e400", digits),
            ("\"-1\"", digits),
            ("\"0x10\"", digits),
            ("\" 1\"", digits),
            (over, too_large),
            (&format!("\"{over}\""), too_large),
            ("null", wrong_type),
            ("true", wrong_type),
            ("[1]", wrong_type),
            ("{}", wrong_type),
        ] {
            assert_eq!(parse_difficulty(json), Err(message.to_owned()), "{json}");
        }
    }
}
