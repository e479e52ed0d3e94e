//! Requests' bodies, which are JSON.

use axum::{
    extract::Request,
    http::{HeaderMap, header},
};
use randomx_http::{BodyError, read_body};
use serde::de::DeserializeOwned;

use super::failure::{Code, Failure};
use crate::record::{self, LineError};

/// The largest body, in bytes.
pub(crate) const MAX_SIZE: usize = 1 << 20;

/// Reads the body of a request, which must be a JSON object.
pub(crate) async fn read<T: DeserializeOwned>(request: Request) -> Result<T, Failure> {
    if !is_json(request.headers()) {
        return Err(Failure::argument("Content-Type", "expected application/json"));
    }
    parse(&read_body(request, MAX_SIZE).await?)
}

impl From<BodyError> for Failure {
    fn from(problem: BodyError) -> Failure {
        let code = match problem {
            BodyError::TooLarge { .. } => Code::TooLarge,
            BodyError::Malformed => Code::InvalidArgument,
            BodyError::Timeout => Code::Timeout,
        };
        Failure::new(code, problem.to_string())
    }
}

/// Parses a body.
pub(super) fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Failure> {
    let text = str::from_utf8(bytes).map_err(|problem| {
        Failure::argument("body", format!("not UTF-8 at byte {}", problem.valid_up_to() + 1))
    })?;
    record::parse(text).map_err(|problem| {
        let complaint = match problem {
            LineError::Json { message, .. } if names_a_field(&message) => {
                return Failure::new(Code::InvalidArgument, message);
            }
            LineError::Blank => "expected a JSON object".to_owned(),
            other => other.to_string(),
        };
        Failure::argument("body", complaint)
    })
}

/// Whether a message begins with the path of a field, as in `inputs[3]: …`.
fn names_a_field(message: &str) -> bool {
    let path = |character: char| character.is_ascii_alphanumeric() || "[]._".contains(character);
    message.split_once(": ").is_some_and(|(name, _)| name.chars().all(path))
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.and_then(|kind| kind.split(';').next())
        .is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Example {
        #[allow(dead_code, reason = "the test only parses it")]
        inputs: Vec<String>,
    }

    #[test]
    fn a_message_names_the_argument() {
        let message = |text: &str| parse::<Example>(text.as_bytes()).expect_err(text).message;
        assert_eq!(message(""), "body: expected a JSON object");
        assert_eq!(message("[]"), "body: expected a JSON object");
        assert_eq!(message("{\"inputs\":["), "body: incomplete JSON object");
        let wrong = message("{\n\"inputs\": [\"00\", 7]}");
        assert!(wrong.starts_with("inputs[1]: invalid type: integer `7`"), "{wrong}");
        let unknown = message("{\"input\":[]}");
        assert!(unknown.starts_with("body: unknown field `input`"), "{unknown}");
        let missing = message("{}");
        assert!(missing.starts_with("body: missing field `inputs`"), "{missing}");
    }

    #[test]
    fn only_json_is_accepted() {
        let is = |kind: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::CONTENT_TYPE, kind.parse().expect("a value"));
            is_json(&headers)
        };
        assert!(is("application/json") && is("Application/JSON; charset=utf-8"));
        // Forms of other sites can send these without a preflight request.
        assert!(!is("text/plain") && !is("application/x-www-form-urlencoded"));
        assert!(!is_json(&HeaderMap::new()));
    }
}
