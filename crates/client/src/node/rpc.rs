//! JSON-RPC over HTTP, in the dialect of Monero's daemon. Time, size and number of attempts are
//! bounded, since the node may be hostile.

use std::{thread, time::Duration};

use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};
use thiserror::Error;
use ureq::Agent;
use url::Url;

use super::answers::FieldError;
use crate::agent::{Route, agent_settings};
use crate::budget::{self, Body, ReadError, Turn};

/// The longest answer about a block, in bytes: a block of 1 MiB twice over in hex and JSON, and more.
pub const MAX_ANSWER: u64 = 8 << 20;

/// The longest answer about one header or the node itself.
pub const SMALL: u64 = 16 << 10;

/// The bytes of each further header of an answer; the daemon writes some 1,500.
pub const HEADER: u64 = 4 << 10;

/// The first pause between attempts. Each later one is twice as long.
const PAUSE: Duration = Duration::from_millis(250);

/// The longest excerpt of a node's own message, in characters.
const MAX_WORDS: usize = 200;

/// The reason why a node gave no usable answer. Messages begin with the method.
#[derive(Debug, Error)]
pub enum NodeError {
    /// There is no connection, or HTTP failed.
    #[error("{method}: cannot reach the node: {problem}")]
    Unreachable {
        /// The method.
        method: &'static str,
        /// The problem.
        problem: String,
    },
    /// The answer took too long.
    #[error("{method}: no answer within {} ms", .timeout.as_millis())]
    Timeout {
        /// The method.
        method: &'static str,
        /// The allowed time.
        timeout: Duration,
    },
    /// Other large answers took the memory for too long.
    #[error("{method}: no memory for a large answer within {} ms", .timeout.as_millis())]
    Busy {
        /// The method.
        method: &'static str,
        /// The allowed time.
        timeout: Duration,
    },
    /// The node refused the call.
    #[error("{method}: the node answered {words:?}")]
    Refused {
        /// The method.
        method: &'static str,
        /// The node's message.
        words: String,
    },
    /// The answer was too long.
    #[error("{method}: expected an answer of at most {limit} bytes, got more")]
    TooLarge {
        /// The method.
        method: &'static str,
        /// The most bytes allowed.
        limit: u64,
    },
    /// The answer cannot be used.
    #[error("{method}: {problem}")]
    Invalid {
        /// The method.
        method: &'static str,
        /// The problem.
        problem: FieldError,
    },
}

/// Calls methods at one endpoint.
pub struct Rpc {
    agent: Agent,
    endpoint: String,
    timeout: Duration,
    retries: u32,
    turn: Turn,
}

/// A failed attempt.
struct Failure {
    error: NodeError,
    /// Whether another attempt makes sense.
    again: bool,
}

/// The JSON-RPC envelope of a result. Other fields are ignored.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(default, borrow)]
    result: Option<&'a RawValue>,
    #[serde(default)]
    error: Option<Words>,
}

#[derive(Deserialize)]
struct Words {
    #[serde(default)]
    message: String,
}

/// The field that every result has.
#[derive(Deserialize)]
struct Status {
    status: String,
}

impl Rpc {
    pub fn new(route: &Route, endpoint: &Url, retries: u32) -> Rpc {
        let settings =
            agent_settings(route).max_idle_connections(16).max_idle_connections_per_host(16);
        let endpoint = endpoint.as_str().to_owned();
        let (agent, turn) = (settings.new_agent(), Turn::default());
        Rpc { agent, endpoint, timeout: route.timeout, retries, turn }
    }

    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Whether an answer is being read that has more bytes than answers may have without waiting.
    #[cfg(test)]
    pub(super) fn reads_long_answer(&self) -> bool {
        self.turn.is_taken()
    }

    /// Calls a method and parses its result, an object whose status is `OK`, of at most `limit`
    /// bytes.
    pub fn call<T>(
        &self,
        method: &'static str,
        params: &Value,
        limit: u64,
        read: impl Fn(&RawValue) -> Result<T, FieldError>,
    ) -> Result<T, NodeError> {
        let request = json!({ "jsonrpc": "2.0", "id": "0", "method": method, "params": params });
        let request = request.to_string();
        let mut pause = PAUSE;
        let mut retries = 0..self.retries;
        loop {
            let answer = self.fetch(method, &request, limit);
            let outcome = answer.and_then(|answer| parse(method, &answer, &read));
            match outcome {
                Ok(value) => return Ok(value),
                Err(Failure { again: true, .. }) if retries.next().is_some() => {
                    thread::sleep(pause);
                    pause *= 2;
                }
                Err(Failure { error, .. }) => return Err(error),
            }
        }
    }

    fn fetch(&self, method: &'static str, request: &str, limit: u64) -> Result<Body<'_>, Failure> {
        let fail = |error| self.failure(method, error);
        let send = self.agent.post(&self.endpoint).header("Content-Type", "application/json");
        let mut response = send.send(request).map_err(fail)?;
        let status = response.status();
        if status != 200 {
            let problem = format!("HTTP status {}", status.as_u16());
            let again = status == 429 || status.is_server_error();
            return Err(Failure { error: NodeError::Unreachable { method, problem }, again });
        }
        let body = budget::read(response.body_mut(), limit, self.timeout, &self.turn);
        body.map_err(|problem| match problem {
            ReadError::TooLarge { limit } => {
                Failure { error: NodeError::TooLarge { method, limit }, again: false }
            }
            ReadError::Busy(timeout) => {
                Failure { error: NodeError::Busy { method, timeout }, again: true }
            }
            ReadError::Connection(error) => fail(error),
        })
    }

    fn failure(&self, method: &'static str, error: ureq::Error) -> Failure {
        match error {
            ureq::Error::Timeout(_) => {
                Failure { error: NodeError::Timeout { method, timeout: self.timeout }, again: true }
            }
            error => {
                let problem = error.to_string();
                Failure { error: NodeError::Unreachable { method, problem }, again: true }
            }
        }
    }
}

/// Parses an answer as [`Rpc::call`] does.
#[cfg(feature = "internals")]
pub fn parse_answer<T>(
    method: &'static str,
    answer: &[u8],
    read: impl Fn(&RawValue) -> Result<T, FieldError>,
) -> Result<T, NodeError> {
    parse(method, answer, &read).map_err(|failure| failure.error)
}

fn parse<T>(
    method: &'static str,
    answer: &[u8],
    read: &impl Fn(&RawValue) -> Result<T, FieldError>,
) -> Result<T, Failure> {
    read(result(method, answer)?).map_err(|problem| invalid(method, problem))
}

/// Returns the result in an answer.
fn result<'a>(method: &'static str, answer: &'a [u8]) -> Result<&'a RawValue, Failure> {
    let envelope: Envelope<'_> =
        serde_json::from_slice(answer).map_err(|_| invalid(method, FieldError::NotJsonRpc))?;
    if let Some(Words { message }) = envelope.error {
        return Err(refused(method, &message, false));
    }
    let result = envelope.result.ok_or_else(|| invalid(method, FieldError::NotJsonRpc))?;
    let Status { status } =
        serde_json::from_str(result.get()).map_err(|_| invalid(method, FieldError::NotJsonRpc))?;
    match status.as_str() {
        "OK" => Ok(result),
        // The node is synchronising.
        "BUSY" => Err(refused(method, &status, true)),
        _ => Err(refused(method, &status, false)),
    }
}

fn invalid(method: &'static str, problem: FieldError) -> Failure {
    Failure { error: NodeError::Invalid { method, problem }, again: false }
}

fn refused(method: &'static str, words: &str, again: bool) -> Failure {
    let words = words.chars().take(MAX_WORDS).collect();
    Failure { error: NodeError::Refused { method, words }, again }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(answer: &str) -> Result<&str, String> {
        let result = result("get_info", answer.as_bytes());
        result.map(RawValue::get).map_err(|failure| failure.error.to_string())
    }

    #[test]
    fn a_field_that_is_there_twice_is_refused() {
        let result = r#"{"status":"OK","height":1}"#;
        assert_eq!(read(&format!(r#"{{"result":{result}}}"#)), Ok(result));
        let refused = Err("get_info: expected a JSON-RPC answer with a result".to_owned());
        assert_eq!(read(&format!(r#"{{"result":{result},"result":{result}}}"#)), refused);
        assert_eq!(read(r#"{"result":{"status":"BUSY","status":"OK"}}"#), refused);
    }
}
