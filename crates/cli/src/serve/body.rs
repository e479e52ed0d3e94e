//! Reading what is asked for, within bounds.

use std::{sync::Arc, time::Duration};

use axum::{
    body::{self, Bytes},
    extract::Request,
    http::{HeaderMap, header},
};
use http_body::Body as _;
use serde::de::DeserializeOwned;

use super::{
    connections::Place,
    failure::{Code, Failure},
};
use crate::record::{self, LineError};

/// The most bytes of a body.
pub(crate) const MOST: usize = 1 << 20;

/// The longest that a client may take to send it.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The body of a request, which is a JSON object.
pub(crate) async fn read<T: DeserializeOwned>(request: Request) -> Result<T, Failure> {
    if !is_json(request.headers()) {
        return Err(Failure::argument("Content-Type", "expected application/json"));
    }
    let bytes = bytes(request).await?;
    let text = str::from_utf8(&bytes).map_err(|problem| {
        Failure::argument("body", format!("not UTF-8 at byte {}", problem.valid_up_to() + 1))
    })?;
    parse(text)
}

async fn bytes(request: Request) -> Result<Bytes, Failure> {
    let too_large = || {
        let message = format!("body: expected at most {MOST} bytes");
        Failure::new(Code::TooLarge, message)
    };
    if request.body().size_hint().lower() > MOST as u64 {
        return Err(too_large());
    }
    let place = request.extensions().get::<Arc<Place>>().cloned();
    let _waiting = place.map(|place| place.waits_for_client());
    let read = tokio::time::timeout(TIMEOUT, body::to_bytes(request.into_body(), MOST)).await;
    let read = read.map_err(|_| {
        let message = format!("body: not sent in {} seconds", TIMEOUT.as_secs());
        Failure::new(Code::Timeout, message)
    })?;
    // What else may go wrong is that the client is gone, which nobody is told then.
    read.map_err(|_| too_large())
}

fn parse<T: DeserializeOwned>(text: &str) -> Result<T, Failure> {
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

/// Whether a message begins with a field's path, as in `inputs[3]: …`.
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
        #[allow(dead_code, reason = "only whether it can be read is tested")]
        inputs: Vec<String>,
    }

    #[test]
    fn a_message_names_the_argument() {
        let message = |text| parse::<Example>(text).expect_err(text).message;
        assert_eq!(message(""), "body: expected a JSON object");
        assert_eq!(message("[]"), "body: expected a JSON object");
        assert_eq!(message("{\"inputs\":["), "body: cut short: the JSON object does not end");
        let wrong = message("{\n\"inputs\": [\"00\", 7]}");
        assert!(wrong.starts_with("inputs[1]: invalid type: integer `7`"), "{wrong}");
        let unknown = message("{\"input\":[]}");
        assert!(unknown.starts_with("body: unknown field `input`"), "{unknown}");
        let missing = message("{}");
        assert!(missing.starts_with("body: missing field `inputs`"), "{missing}");
    }

    #[test]
    fn only_json_is_read() {
        let is = |kind: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::CONTENT_TYPE, kind.parse().expect("a value"));
            is_json(&headers)
        };
        assert!(is("application/json") && is("Application/JSON; charset=utf-8"));
        // What a form of another site can send without being asked first.
        assert!(!is("text/plain") && !is("application/x-www-form-urlencoded"));
        assert!(!is_json(&HeaderMap::new()));
    }
}
