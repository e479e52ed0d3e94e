//! Which method answers a request, and how.

use std::time::Instant;

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

/// Answers a request to a path that began at `begun`.
pub(crate) fn reply(service: &Service, begun: Instant, path: &str, body: &[u8]) -> Reply {
    if path == JSON_RPC {
        return Reply {
            status: 200,
            form: Form::Json,
            body: answer_json_rpc(service, begun, body),
        };
    }
    let name = name_of(path);
    let Some(method) = methods::find(name) else {
        let refusal = Refusal::Unknown(name.chars().take(60).collect());
        return Reply { status: 404, form: Form::Json, body: Form::Json.refuse(&refusal) };
    };
    let form = method.form;
    let outcome = match method.source {
        Source::Checked(answer) => service
            .ready()
            .and_then(|()| service.journal.count(name, || answer(service, begun, body))),
        Source::Chain(known) => service.journal.count(name, || answer_here(service, begun, known)),
        Source::Sent => transactions::send(service, begun, body),
        Source::Forwarded(known) => forward::pass_on(service, begun, known, body),
    };
    let body = outcome.unwrap_or_else(|refusal| {
        service.note(name, &refusal);
        form.refuse(&refusal)
    });
    Reply { status: 200, form, body }
}

/// Answers a request of JSON-RPC.
fn answer_json_rpc(service: &Service, begun: Instant, body: &[u8]) -> Vec<u8> {
    let Ok(envelope) = serde_json::from_slice::<Envelope<'_>>(body) else {
        let error = json!({ "code": -32600, "message": "Invalid Request" });
        return json!({ "jsonrpc": "2.0", "id": null, "error": error }).to_string().into();
    };
    let id = envelope.id.unwrap_or(RawValue::NULL);
    let method = envelope.method.as_str();
    let outcome = match methods::find_json_rpc(method) {
        JsonRpc::Estimate => {
            service.journal.count(method, || fees::estimate(service, begun, envelope.params))
        }
        JsonRpc::Forwarded(known) => {
            let passed = forward::pass_on_json_rpc(service, begun, known, id, envelope.params);
            return passed.unwrap_or_else(|refusal| {
                service.note(method, &refusal);
                refuse_json_rpc(id, &refusal)
            });
        }
        JsonRpc::Chain => envelope.params.map_or(Ok(Value::Null), parameters).and_then(|params| {
            service.ready()?;
            service.journal.count(method, || local::answer(service, begun, method, &params))
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
fn answer_here(service: &Service, begun: Instant, method: &str) -> Result<Vec<u8>, Refusal> {
    service.ready()?;
    Ok(local::answer(service, begun, method, &Value::Null)?.to_string().into())
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
    use std::sync::atomic::Ordering;
    use std::time::Duration;

    use randomx_monero::Network;

    use super::*;
    use crate::chain::View;
    use crate::epee::Writer;
    use crate::following::now;

    #[test]
    fn no_node_is_asked_when_the_time_of_a_request_is_over() {
        const LIMIT: Duration = Duration::from_secs(60);
        let (mut service, asked) = Service::before_a_refusing_node();
        service.nodes.limit(LIMIT);
        service.chain.show(View::of_base((1, [1; 32]), Network::Mainnet));
        service.set_followed(Some(now()));
        let binary = |write: fn(&mut Writer)| {
            let mut writer = Writer::new();
            write(&mut writer);
            writer.finish()
        };
        let call = |method: &str, params: Value| {
            json!({ "method": method, "params": params }).to_string().into_bytes()
        };
        let hash = "11".repeat(32);
        for (path, body) in [
            ("/getblocks.bin", binary(|writer| writer.byte("requested_info", 2))),
            ("/getblocks_by_height.bin", binary(|writer| writer.numbers("heights", &[1]))),
            ("/gethashes.bin", binary(|writer| writer.bytes("block_ids", &[7; 32]))),
            ("/gettransactions", json!({ "txs_hashes": [hash] }).to_string().into()),
            ("/is_key_image_spent", json!({ "key_images": [hash] }).to_string().into()),
            ("/get_transaction_pool", Vec::new()),
            (JSON_RPC, call("get_block_header_by_hash", json!({ "hash": hash }))),
            (JSON_RPC, call("get_output_histogram", json!({}))),
            (JSON_RPC, call("get_fee_estimate", json!({}))),
        ] {
            let ask = |begun| {
                reply(&service, begun, path, &body);
                asked.swap(0, Ordering::Relaxed)
            };
            let text = String::from_utf8_lossy(&body);
            assert_ne!(ask(Instant::now()), 0, "{path} {text}");
            let begun = Instant::now().checked_sub(LIMIT).expect("an earlier time");
            assert_eq!(ask(begun), 0, "{path} {text}");
        }
    }

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
