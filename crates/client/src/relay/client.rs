//! Asking a relay.

use std::time::Duration;

use randomx_monero::client::Query;
use randomx_monero::{Hash, HashingBlob};
use serde::Deserialize;
use thiserror::Error;
use ureq::Agent;
use url::Url;

use crate::address::http_address;
use crate::agent::{Route, agent_settings};
use crate::answer::Answer;
use crate::budget::{self, Body, ReadError, Turn};

/// The longest answer about the tip, in bytes.
const MAX_TIP: u64 = 4 << 10;

/// Parses a relay's address, such as `http://127.0.0.1:18090`.
///
/// # Errors
///
/// If the text is not the address of an HTTP server without a login.
pub fn address(text: &str) -> Result<Url, String> {
    http_address(text, "http://127.0.0.1:18090")
}

/// A relay.
pub struct RelayClient {
    agent: Agent,
    address: String,
    timeout: Duration,
    turn: Turn,
}

#[derive(Deserialize)]
struct Tip {
    height: u64,
    #[serde(with = "hex")]
    id: Hash,
}

impl RelayClient {
    /// Returns the relay at an address that [`address`] has parsed. Sends nothing yet.
    pub fn new(route: &Route, address: &Url) -> RelayClient {
        let address = address.as_str().trim_end_matches('/').to_owned();
        let agent = agent_settings(route).new_agent();
        RelayClient { agent, address, timeout: route.timeout, turn: Turn::default() }
    }

    /// Asks a question.
    ///
    /// # Errors
    ///
    /// If there is no usable answer.
    pub fn ask(&self, query: Query) -> Result<Answer, RelayClientError> {
        let answer = match query {
            Query::Tip => self.get("tip", MAX_TIP)?,
            Query::Headers { first, count } => {
                let limit = count.saturating_mul(1 + HashingBlob::MAX_BYTES as u64);
                self.get(&format!("headers/{first}/{count}"), limit)?
            }
            Query::Difficulties { first, count } => {
                self.get(&format!("difficulties/{first}/{count}"), count.saturating_mul(16))?
            }
        };
        parse(query, &answer).ok_or(RelayClientError::Malformed)
    }

    fn get(&self, path: &str, limit: u64) -> Result<Body<'_>, RelayClientError> {
        let mut response = self.agent.get(format!("{}/v1/{path}", self.address)).call()?;
        let status = response.status().as_u16();
        if status != 200 {
            return Err(RelayClientError::Status(status));
        }
        match budget::read(response.body_mut(), limit, self.timeout, &self.turn) {
            Ok(body) => Ok(body),
            Err(ReadError::Connection(problem)) => Err(problem.into()),
            Err(problem) => Err(RelayClientError::Answer(problem.to_string())),
        }
    }
}

/// Parses an answer to a question, or returns `None` if it has another form.
pub(super) fn parse(query: Query, answer: &[u8]) -> Option<Answer> {
    match query {
        Query::Tip => {
            // Serde would take an array of the fields' values too.
            answer.trim_ascii_start().starts_with(b"{").then_some(())?;
            let Tip { height, id } = serde_json::from_slice(answer).ok()?;
            Some(Answer::Tip(height, id))
        }
        Query::Headers { .. } => parse_blobs(answer).map(Answer::Headers),
        Query::Difficulties { .. } => {
            let (numbers, rest) = answer.as_chunks::<16>();
            rest.is_empty().then_some(())?;
            let numbers = numbers.iter().map(|bytes| u128::from_le_bytes(*bytes));
            Some(Answer::Difficulties(numbers.collect()))
        }
    }
}

/// Splits blobs, each preceded by a byte with its length.
fn parse_blobs(mut bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut blobs = Vec::new();
    while let Some((&length, rest)) = bytes.split_first() {
        let (blob, rest) = rest.split_at_checked(usize::from(length))?;
        blobs.push(blob.to_vec());
        bytes = rest;
    }
    Some(blobs)
}

/// The reason why a relay gave no usable answer.
#[derive(Debug, Error)]
pub enum RelayClientError {
    /// There is no connection, or no answer in time.
    #[error("the relay cannot be reached: {0}")]
    Unreachable(#[from] ureq::Error),
    /// The answer is too long, or there is no memory for it.
    #[error("the relay's answer: {0}")]
    Answer(String),
    /// The relay refused the request.
    #[error("the relay answers with HTTP status {0}")]
    Status(u16),
    /// The answer has another form.
    #[error("the relay's answer is malformed")]
    Malformed,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_those_of_http_servers() {
        let route = Route::direct(Duration::from_secs(1));
        for (text, base) in [
            ("http://127.0.0.1:18090", "http://127.0.0.1:18090"),
            ("http://127.0.0.1:18090/", "http://127.0.0.1:18090"),
            ("https://relay.example/xmr/?a#b", "https://relay.example/xmr"),
            ("http://[::1]:1?a=b", "http://[::1]:1"),
        ] {
            let address = address(text).expect(text);
            assert_eq!(RelayClient::new(&route, &address).address, base);
        }
        for (text, sentence) in [
            ("127.0.0.1:18090", "relative URL without a base"),
            ("", "relative URL without a base"),
            ("ftp://relay.example", "expected http or https, got ftp"),
            ("http://me@relay.example", "expected an address without a login"),
            ("http://me:secret@relay.example", "expected an address without a login"),
        ] {
            let error = address(text).expect_err(text);
            assert!(error.starts_with(sentence), "{error}");
        }
    }

    #[test]
    fn a_tip_has_each_field_once() {
        let id = format!(r#""id":"{}""#, "11".repeat(32));
        let tip = |fields: &str| parse(Query::Tip, format!("{{{fields}}}").as_bytes());
        assert_eq!(tip(&format!(r#"{id},"height":5"#)), Some(Answer::Tip(5, [0x11; 32])));
        assert_eq!(tip(&format!(r#"{id},"height":5,"height":5"#)), None);
        assert_eq!(tip(&format!(r#"{id},{id},"height":5"#)), None);
        assert_eq!(tip(&id), None);
    }

    #[test]
    fn blobs_are_split_at_their_lengths() {
        assert_eq!(parse_blobs(&[]), Some(vec![]));
        assert_eq!(parse_blobs(&[2, 7, 8, 0, 1, 9]), Some(vec![vec![7, 8], vec![], vec![9]]));
        assert_eq!(parse_blobs(&[3, 1, 2]), None);
    }
}
