//! Methods whose answers nobody can verify: blocks do not commit to them. The guard forwards the answers within
//! limits. Where honest answers are equal, it asks two nodes, and compares the answers if both send one. Of two
//! answers to `get_outs.bin`, wallets get the one with more unlocked outputs: a node could otherwise choose a wallet's
//! decoys by hiding the others.

mod distribution;
mod facts;
mod outputs;
mod plausible;
mod status;

use std::collections::BTreeMap;
use std::time::Instant;

use serde_json::value::RawValue;

use crate::answer::Form;
use crate::nodes::{Call, Fault};
use crate::refusal::Refusal;
use crate::service::Service;

use facts::Facts;
pub(crate) use plausible::Plausible;

/// A method that is passed on.
#[derive(Clone, Copy)]
pub(crate) struct Known {
    pub(crate) name: &'static str,
    /// The form of the request.
    pub(crate) form: Form,
    /// The longest answer in bytes.
    pub(crate) limit: u64,
    plausible: Plausible,
}

pub(crate) const fn known(
    name: &'static str,
    form: Form,
    limit: u64,
    plausible: Plausible,
) -> Known {
    Known { name, form, limit, plausible }
}

/// Passes on a request that began at `begun`.
pub(crate) fn pass_on(
    service: &Service,
    begun: Instant,
    known: Known,
    body: &[u8],
) -> Result<Vec<u8>, Refusal> {
    let request = match known.form {
        Form::Json if body.iter().all(u8::is_ascii_whitespace) => b"{}".to_vec(),
        Form::Json => without_client(body)?.into_bytes(),
        Form::Binary => known.plausible.rewrite(body).map_err(Refusal::Request)?,
    };
    let call = Call {
        method: known.name.to_owned(),
        path: format!("/{}", known.name),
        form: known.form,
        body: request,
        limit: known.limit,
    };
    ask(service, begun, known, &call, body)
}

/// Passes on a request of JSON-RPC that began at `begun`.
pub(crate) fn pass_on_json_rpc(
    service: &Service,
    begun: Instant,
    known: Known,
    id: &RawValue,
    params: Option<&RawValue>,
) -> Result<Vec<u8>, Refusal> {
    let params = params.map_or("{}", RawValue::get);
    let params = without_client(params.as_bytes())?;
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":{},"method":"{}","params":{params}}}"#,
        id.get(),
        known.name
    );
    let call = Call {
        method: known.name.to_owned(),
        path: "/json_rpc".to_owned(),
        form: Form::Json,
        body: body.into_bytes(),
        limit: known.limit,
    };
    ask(service, begun, known, &call, params.as_bytes())
}

fn ask(
    service: &Service,
    begun: Instant,
    known: Known,
    call: &Call,
    request: &[u8],
) -> Result<Vec<u8>, Refusal> {
    service.ready()?;
    let tip = service.chain.view()?.tip().0;
    let judge = |answer: &[u8]| {
        let facts = known.plausible.check(request, answer, tip).map_err(Fault::Unusable)?;
        Ok((answer.to_vec(), facts))
    };
    let mut answers = if known.plausible.is_compared() {
        service.nodes.ask_two(begun, call, judge)?
    } else {
        vec![service.nodes.ask(begun, call, judge)?]
    };
    service.journal.not_verified(known.name);
    let is_whole = |facts: &Facts| answers.iter().all(|(_, other)| facts.covers(other));
    let Some(found) = answers.iter().position(|(_, facts)| is_whole(facts)) else {
        let problem = "two nodes contradict each other, and nothing shows which one lies";
        return Err(Refusal::Unusable(problem.to_owned()));
    };
    Ok(answers.swap_remove(found).0)
}

/// Returns a JSON object without the field by which a node recognises a wallet again.
fn without_client(json: &[u8]) -> Result<String, Refusal> {
    let malformed = |problem: serde_json::Error| Refusal::Request(problem.to_string());
    let mut fields: BTreeMap<String, &RawValue> =
        serde_json::from_slice(json).map_err(malformed)?;
    fields.remove("client");
    serde_json::to_string(&fields).map_err(malformed)
}
