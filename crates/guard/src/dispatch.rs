//! Which method answers a request, and how.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::answer::{Form, json_rpc, refuse_json_rpc};
use crate::refusal::Refusal;
use crate::service::Service;
use crate::{blocks, fees, forward, local, transactions};

/// A JSON-RPC request.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    method: String,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
}

/// An answer for HTTP.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) form: Form,
    pub(crate) body: Vec<u8>,
}

/// Nodes' answers over this size are large.
const LARGE: u64 = 32 << 20;

/// Whether the answer of a node to a request may be large.
pub(crate) fn is_large(path: &str, body: &[u8]) -> bool {
    let limit = if path == "/json_rpc" {
        let envelope = serde_json::from_slice::<Envelope<'_>>(body).ok();
        envelope.map_or(0, |envelope| match envelope.method.as_str() {
            // What recent blocks paid is read from these.
            "get_fee_estimate" => blocks::MAX_ANSWER,
            method => {
                forward::find_json_rpc(method).map_or(local::MAX_BLOCK, |known| known.limit())
            }
        })
    } else {
        match path.trim_start_matches('/') {
            "getblocks.bin"
            | "get_blocks.bin"
            | "getblocks_by_height.bin"
            | "get_blocks_by_height.bin" => blocks::MAX_ANSWER,
            "gettransactions" | "get_transactions" => transactions::MAX_ANSWER,
            _ => forward::find(path).map_or(0, |known| known.limit()),
        }
    };
    limit > LARGE
}

/// Answers a request to a path.
pub(crate) fn reply(service: &Service, path: &str, body: &[u8]) -> Reply {
    if path == "/json_rpc" {
        return Reply { status: 200, form: Form::Json, body: answer_json_rpc(service, body) };
    }
    let name = path.trim_start_matches('/');
    let (form, outcome) = match name {
        "getblocks.bin" | "get_blocks.bin" => {
            (Form::Binary, when_ready(service, blocks::blocks, body))
        }
        "getblocks_by_height.bin" | "get_blocks_by_height.bin" => {
            (Form::Binary, when_ready(service, blocks::by_height, body))
        }
        "gethashes.bin" | "get_hashes.bin" => {
            (Form::Binary, when_ready(service, blocks::hashes, body))
        }
        "gettransactions" | "get_transactions" => {
            (Form::Json, when_ready(service, transactions::get, body))
        }
        "sendrawtransaction" | "send_raw_transaction" => {
            (Form::Json, transactions::send(service, body))
        }
        "getheight" | "get_height" => {
            (Form::Json, answer_here(service, "get_height", &Value::Null))
        }
        "getinfo" | "get_info" => (Form::Json, answer_here(service, "get_info", &Value::Null)),
        _ => match forward::find(path) {
            Some(known) => (known.form(), forward::pass_on(service, known, body)),
            None => {
                let refusal = Refusal::Unknown(name.chars().take(60).collect());
                return Reply { status: 404, form: Form::Json, body: Form::Json.refuse(&refusal) };
            }
        },
    };
    let body = match outcome {
        Ok(body) => {
            if forward::find(path).is_none() && !name.starts_with("send") {
                service.journal.checked(name);
            }
            body
        }
        Err(refusal) => {
            service.note(name, &refusal);
            form.refuse(&refusal)
        }
    };
    Reply { status: 200, form, body }
}

/// Answers a request of JSON-RPC.
fn answer_json_rpc(service: &Service, body: &[u8]) -> Vec<u8> {
    let Ok(envelope) = serde_json::from_slice::<Envelope<'_>>(body) else {
        let error = json!({ "code": -32600, "message": "Invalid Request" });
        return json!({ "jsonrpc": "2.0", "id": null, "error": error }).to_string().into();
    };
    let id = envelope.id.unwrap_or(RawValue::NULL);
    let method = envelope.method.as_str();
    let outcome = match method {
        "get_fee_estimate" => {
            service.ready().and_then(|()| fees::estimate(service, envelope.params))
        }
        _ => match forward::find_json_rpc(method) {
            Some(known) => {
                let passed = forward::pass_on_json_rpc(service, known, id, envelope.params);
                return passed.unwrap_or_else(|refusal| {
                    service.note(method, &refusal);
                    refuse_json_rpc(id, &refusal)
                });
            }
            None => envelope.params.map_or(Ok(Value::Null), parameters).and_then(|params| {
                service.ready()?;
                local::answer(service, method, &params)
            }),
        },
    };
    match outcome {
        Ok(result) => {
            service.journal.checked(method);
            json_rpc(id, &result)
        }
        Err(refusal) => {
            service.note(method, &refusal);
            refuse_json_rpc(id, &refusal)
        }
    }
}

/// Answers from the verified chain.
fn answer_here(service: &Service, method: &str, params: &Value) -> Result<Vec<u8>, Refusal> {
    service.ready()?;
    Ok(local::answer(service, method, params)?.to_string().into())
}

/// Answers with what was verified, once the chain is known.
fn when_ready(
    service: &Service,
    answer: impl Fn(&Service, &[u8]) -> Result<Vec<u8>, Refusal>,
    body: &[u8],
) -> Result<Vec<u8>, Refusal> {
    service.ready()?;
    answer(service, body)
}

/// Parses the parameters of a method that is answered here: small ones.
fn parameters(params: &RawValue) -> Result<Value, Refusal> {
    const MOST: usize = 64 << 10;
    if params.get().len() > MOST {
        return Err(Refusal::Request(format!("params: expected at most {MOST} bytes")));
    }
    serde_json::from_str(params.get()).map_err(|problem| Refusal::Request(problem.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_transactions_and_distributions_are_large() {
        for path in [
            "/getblocks.bin",
            "/get_blocks_by_height.bin",
            "/gettransactions",
            "/get_transaction_pool",
            "/get_output_distribution.bin",
        ] {
            assert!(is_large(path, b""), "{path}");
        }
        for path in ["/gethashes.bin", "/get_info", "/get_outs.bin", "/sendrawtransaction", "/"] {
            assert!(!is_large(path, b""), "{path}");
        }
        let call =
            |method| is_large("/json_rpc", json!({ "method": method }).to_string().as_bytes());
        assert!(call("get_fee_estimate") && call("get_output_distribution"));
        assert!(!call("get_block") && !call("get_info") && !call("get_txpool_backlog"));
        assert!(!is_large("/json_rpc", b"blocks"));
    }
}
