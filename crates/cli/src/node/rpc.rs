//! Monero's JSON-RPC over HTTP. Time, size and attempts are bounded, since the node may be hostile.

use std::{thread, time::Duration};

use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};
use thiserror::Error;
use ureq::Agent;
use url::Url;

use super::answers::FieldError;

/// The longest answer in bytes: more than a block of 1 MiB in hex and in JSON.
pub(crate) const MAX_ANSWER: u64 = 8 << 20;

/// The first pause between attempts; each later one is twice as long.
const PAUSE: Duration = Duration::from_millis(250);

/// The longest excerpt of a node's message, in characters.
const MAX_MESSAGE: usize = 200;

/// Why a node gave no usable answer. Messages begin with the method that was called.
#[derive(Debug, Error)]
pub(crate) enum NodeError {
    #[error("{method}: cannot reach the node: {problem}")]
    Unreachable { method: &'static str, problem: String },
    #[error("{method}: no answer within {} ms", .timeout.as_millis())]
    Timeout { method: &'static str, timeout: Duration },
    #[error("{method}: the node answered {words:?}")]
    Refused { method: &'static str, words: String },
    #[error("{method}: expected at most {MAX_ANSWER} bytes of answer")]
    TooLarge { method: &'static str },
    #[error("{method}: {problem}")]
    Invalid { method: &'static str, problem: FieldError },
}

/// Calls methods at one endpoint.
pub(crate) struct Rpc {
    agent: Agent,
    endpoint: String,
    timeout: Duration,
    retries: u32,
}

/// Why an attempt failed, and whether to try again.
struct Failure {
    error: NodeError,
    again: bool,
}

/// The envelope of a JSON-RPC result, without the fields that are not needed.
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
    pub(crate) fn new(endpoint: &Url, timeout: Duration, retries: u32) -> Rpc {
        let config = Agent::config_builder()
            // From the request to the last byte.
            .timeout_global(Some(timeout))
            // A redirect would lead to another node than the one that the user named.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .http_status_as_error(false)
            .max_idle_connections(16)
            .max_idle_connections_per_host(16);
        let endpoint = endpoint.as_str().to_owned();
        Rpc { agent: config.build().new_agent(), endpoint, timeout, retries }
    }

    /// Calls a method and parses its result, an object whose status is `OK`.
    pub(crate) fn call<T>(
        &self,
        method: &'static str,
        params: &Value,
        read: impl Fn(&RawValue) -> Result<T, FieldError>,
    ) -> Result<T, NodeError> {
        let request = json!({ "jsonrpc": "2.0", "id": "0", "method": method, "params": params });
        let request = request.to_string();
        let mut pause = PAUSE;
        let mut retries = 0..self.retries;
        loop {
            let outcome = self.fetch(method, &request).and_then(|answer| {
                let result = result(method, &answer)?;
                read(result).map_err(|problem| invalid(method, problem))
            });
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

    fn fetch(&self, method: &'static str, request: &str) -> Result<Vec<u8>, Failure> {
        let fail = |error| self.failure(method, error);
        let send = self.agent.post(&self.endpoint).header("Content-Type", "application/json");
        let mut response = send.send(request).map_err(fail)?;
        let status = response.status();
        if status != 200 {
            let problem = format!("HTTP status {}", status.as_u16());
            let again = status == 429 || status.is_server_error();
            return Err(Failure { error: NodeError::Unreachable { method, problem }, again });
        }
        response.body_mut().with_config().limit(MAX_ANSWER).read_to_vec().map_err(fail)
    }

    fn failure(&self, method: &'static str, error: ureq::Error) -> Failure {
        match error {
            ureq::Error::BodyExceedsLimit(_) => {
                Failure { error: NodeError::TooLarge { method }, again: false }
            }
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
        // The node is still starting or synchronizing.
        "BUSY" => Err(refused(method, &status, true)),
        _ => Err(refused(method, &status, false)),
    }
}

fn invalid(method: &'static str, problem: FieldError) -> Failure {
    Failure { error: NodeError::Invalid { method, problem }, again: false }
}

fn refused(method: &'static str, words: &str, again: bool) -> Failure {
    let words = words.chars().take(MAX_MESSAGE).collect();
    Failure { error: NodeError::Refused { method, words }, again }
}
