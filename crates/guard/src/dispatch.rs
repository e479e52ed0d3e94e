//! Which method answers a request, and how.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::answer::{Form, json_rpc, refuse_json_rpc};
use crate::methods::{self, JsonRpc, Source};
use crate::nodes::LARGE;
use crate::refusal::Refusal;
use crate::service::Service;
use crate::{fees, forward, local, transactions};

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

/// The path of JSON-RPC.
const JSON_RPC: &str = "/json_rpc";

/// Whether the answer of a node to a request may be large.
pub(crate) fn is_large(path: &str, body: &[u8]) -> bool {
    let limit = if path == JSON_RPC {
        let envelope = serde_json::from_slice::<Envelope<'_>>(body).ok();
        envelope.map_or(0, |envelope| methods::find_json_rpc(&envelope.method).limit())
    } else {
        methods::find(name_of(path)).map_or(0, |method| method.limit)
    };
    limit > LARGE
}

/// Answers a request to a path.
pub(crate) fn reply(service: &Service, path: &str, body: &[u8]) -> Reply {
    if path == JSON_RPC {
        return Reply { status: 200, form: Form::Json, body: answer_json_rpc(service, body) };
    }
    let name = name_of(path);
    let Some(method) = methods::find(name) else {
        let refusal = Refusal::Unknown(name.chars().take(60).collect());
        return Reply { status: 404, form: Form::Json, body: Form::Json.refuse(&refusal) };
    };
    let form = method.form;
    let outcome = match method.source {
        Source::Checked(answer) => {
            service.ready().and_then(|()| service.journal.count(name, || answer(service, body)))
        }
        Source::Chain(known) => service.journal.count(name, || answer_here(service, known)),
        Source::Sent => transactions::send(service, body),
        Source::Forwarded(known) => forward::pass_on(service, known, body),
    };
    let body = outcome.unwrap_or_else(|refusal| {
        service.note(name, &refusal);
        form.refuse(&refusal)
    });
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
    let outcome = match methods::find_json_rpc(method) {
        JsonRpc::Estimate => {
            service.journal.count(method, || fees::estimate(service, envelope.params))
        }
        JsonRpc::Forwarded(known) => {
            let passed = forward::pass_on_json_rpc(service, known, id, envelope.params);
            return passed.unwrap_or_else(|refusal| {
                service.note(method, &refusal);
                refuse_json_rpc(id, &refusal)
            });
        }
        JsonRpc::Chain => envelope.params.map_or(Ok(Value::Null), parameters).and_then(|params| {
            service.ready()?;
            service.journal.count(method, || local::answer(service, method, &params))
        }),
    };
    match outcome {
        Ok(result) => json_rpc(id, &result),
        Err(refusal) => {
            service.note(method, &refusal);
            refuse_json_rpc(id, &refusal)
        }
    }
}

/// Returns the name in a path.
fn name_of(path: &str) -> &str {
    path.trim_start_matches('/')
}

/// Answers from the verified chain.
fn answer_here(service: &Service, method: &str) -> Result<Vec<u8>, Refusal> {
    service.ready()?;
    Ok(local::answer(service, method, &Value::Null)?.to_string().into())
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
            "//get_output_distribution.bin",
        ] {
            assert!(is_large(path, b""), "{path}");
        }
        for path in ["/gethashes.bin", "/get_info", "/get_outs.bin", "/sendrawtransaction", "/"] {
            assert!(!is_large(path, b""), "{path}");
        }
        let call =
            |method| is_large("/json_rpc", json!({ "method": method }).to_string().as_bytes());
        assert!(call("get_output_distribution"));
        // A wallet whose estimate waits for others in vain would pay its built-in fee.
        assert!(!call("get_fee_estimate"));
        assert!(!call("get_block") && !call("get_info") && !call("get_txpool_backlog"));
        assert!(!is_large("/json_rpc", b"blocks"));
    }
}
