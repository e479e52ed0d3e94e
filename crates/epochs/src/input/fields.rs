//! The fields of a JSON line.

use std::borrow::Cow;
use std::fmt;

use randomx_arrow::read::digits;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// The fields that become columns of text. The height becomes one of numbers, and all others are kept
/// together in the column `other`.
pub(super) const FIELDS: [&str; 5] =
    ["version", "seed_hash", "hashing_blob", "difficulty", "target"];

const HEIGHT: &str = "height";

/// A line's fields. A line takes no more memory for many of them than for a single one.
#[derive(Default)]
pub(super) struct Fields<'a> {
    /// The height, if it is a whole number.
    pub(super) height: Option<u64>,
    /// The values of [`FIELDS`], as JSON.
    values: [Option<&'a RawValue>; FIELDS.len()],
    /// The members of a JSON object with all other fields in their order, and with a height that is no whole number.
    others: String,
}

impl<'a> Fields<'a> {
    /// Parses a line, unless it is malformed.
    pub(super) fn parse(line: &'a [u8]) -> Option<Fields<'a>> {
        serde_json::from_slice(line).ok()
    }

    /// Returns a field of [`FIELDS`] as text.
    pub(super) fn text(&self, name: &str) -> Option<Cow<'a, str>> {
        let position = FIELDS.iter().position(|field| *field == name)?;
        text(self.values.get(position).copied()??)
    }

    /// Returns the other fields as JSON, if there are any.
    pub(super) fn other(&self) -> Option<String> {
        (!self.others.is_empty()).then(|| format!("{{{}}}", self.others))
    }

    fn add_other(&mut self, name: &str, value: &RawValue) -> serde_json::Result<()> {
        if !self.others.is_empty() {
            self.others.push(',');
        }
        self.others.push_str(&serde_json::to_string(name)?);
        self.others.push(':');
        self.others.push_str(value.get());
        Ok(())
    }
}

/// Returns a value as text: the digits of a number, the characters of a string. Other values, which no
/// column accepts, stay JSON. So does a string with an unpaired surrogate, which is no text.
fn text(value: &RawValue) -> Option<Cow<'_, str>> {
    match value.get() {
        "null" => None,
        json if json.starts_with('"') => {
            Some(serde_json::from_str(json).unwrap_or(Cow::Borrowed(json)))
        }
        json => Some(Cow::Borrowed(json)),
    }
}

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        json.deserialize_map(Object)
    }
}

/// A field's name, which is copied only if it has escapes.
#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

struct Object;

impl<'de> Visitor<'de> for Object {
    type Value = Fields<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de>, A::Error> {
        let mut fields = Fields::default();
        let mut has_height = false;
        while let Some(Name(name)) = map.next_key()? {
            let value: &RawValue = map.next_value()?;
            let position = FIELDS.into_iter().position(|field| field == name);
            let known = position.and_then(|position| fields.values.get_mut(position));
            let is_repeated = match known {
                Some(known) => known.replace(value).is_some(),
                None if name == HEIGHT => {
                    fields.height = text(value).and_then(|text| digits(&text));
                    std::mem::replace(&mut has_height, true)
                }
                None => false,
            };
            if is_repeated {
                return Err(A::Error::custom(format_args!("{name}: expected one value, got two")));
            }
            let is_other = position.is_none() && (name != HEIGHT || fields.height.is_none());
            if is_other {
                fields.add_other(&name, value).map_err(A::Error::custom)?;
            }
        }
        Ok(fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Option<Fields<'_>> {
        Fields::parse(line.as_bytes())
    }

    #[test]
    fn other_fields_keep_their_order_and_their_text() {
        let line =
            r#" { "z": 1.50, "target" : "\u0061b", "\u0061\n":[1, {}], "height":-1, "z":null } "#;
        let fields = parse(line).expect("an object");
        assert_eq!(fields.text("target").as_deref(), Some("ab"));
        assert_eq!((fields.height, fields.text("version")), (None, None));
        let other = r#"{"z":1.50,"a\n":[1, {}],"height":-1,"z":null}"#;
        assert_eq!(fields.other().as_deref(), Some(other));
        let fields = parse(r#"{"height":"7","difficulty":12}"#).expect("an object");
        assert_eq!((fields.height, fields.other()), (Some(7), None));
        assert_eq!(fields.text("difficulty").as_deref(), Some("12"));
    }

    #[test]
    fn a_string_that_is_no_text_is_not_absent() {
        for name in FIELDS {
            let line = format!(r#"{{"{name}":"7\ud800"}}"#);
            let fields = parse(&line).expect("an object");
            assert_eq!(fields.text(name).as_deref(), Some(r#""7\ud800""#));
        }
        let fields = parse(r#"{"height":"7\ud800"}"#).expect("an object");
        let other = r#"{"height":"7\ud800"}"#;
        assert_eq!((fields.height, fields.other().as_deref()), (None, Some(other)));
    }

    #[test]
    fn a_field_of_a_proof_of_work_has_one_value() {
        for name in FIELDS.into_iter().chain([HEIGHT]) {
            for values in [["1", "1"], ["null", "2"], ["\"3\"", "null"]] {
                let members = values.map(|value| format!("\"{name}\":{value}"));
                assert!(parse(&format!("{{{}}}", members[0])).is_some());
                assert!(parse(&format!("{{{}}}", members.join(","))).is_none(), "{members:?}");
            }
            let escaped = format!("\\u{:04x}{}", name.as_bytes()[0], &name[1..]);
            assert!(parse(&format!(r#"{{"{name}":1,"{escaped}":1}}"#)).is_none(), "{escaped}");
        }
        for line in ["", "7", "[]", "[1,2]", "{", "{} {}", r#"{"a":}"#, r#"{"a" 1}"#] {
            assert!(parse(line).is_none(), "{line}");
        }
    }
}
