//! Transactions by their hashes, and sending one.

mod format;

use std::collections::{BTreeSet, HashMap};
use std::time::Instant;

use randomx_monero::{Hash, Transaction};
use serde_json::{Value, json};

use crate::answer::Form;
use crate::blocks;
use crate::chain::View;
use crate::journal::Lie;
use crate::json_list::json_list;
use crate::nodes::{Call, Fault};
use crate::refusal::Refusal;
use crate::service::Service;

use format::{Answer, Found, Request, Sent};

/// The most transactions in a request. Restricted nodes answer 100.
const MOST: usize = 1000;

/// The most blocks in a request to a node. It sends all of their transactions too, some 4 MB for so many
/// blocks. A slow connection takes 15 seconds for these, after which a node would be asked last.
const BLOCKS_AT_ONCE: usize = 25;

/// The longest answer of a node: the bytes of a transaction in hex, twice.
pub(crate) const MAX_ANSWER: u64 = 64 << 20;

/// The longest answer of a node that receives a transaction.
pub(crate) const MAX_SENT: u64 = 64 << 10;

/// Answers `gettransactions`, for a request that began at `begun`.
pub(crate) fn get(service: &Service, begun: Instant, body: &[u8]) -> Result<Vec<u8>, Refusal> {
    let request: Request = serde_json::from_slice(body)
        .map_err(|problem| Refusal::Request(format!("gettransactions: {problem}")))?;
    if request.txs_hashes.len() > MOST {
        return Err(Refusal::Request(format!("txs_hashes: expected at most {MOST}")));
    }
    let view = service.chain.view()?;
    let asked = json!({ "txs_hashes": request.txs_hashes, "prune": false, "split": true });
    let call = Call {
        method: "gettransactions".to_owned(),
        path: "/gettransactions".to_owned(),
        form: Form::Json,
        body: asked.to_string().into(),
        limit: MAX_ANSWER,
    };
    let (found, missed) = service.nodes.ask(begun, &call, |answer| {
        let most = request.txs_hashes.len();
        let answer = Answer::parse(answer, most).map_err(Fault::Unusable)?;
        let (found, missed) = check(&request, answer)?;
        check_blocks(service, &view, begun, &found)?;
        Ok((found, missed))
    })?;
    if !missed.is_empty() {
        service.journal.not_verified("gettransactions: missing transactions");
    }
    let entries = found.iter().map(|found| describe(service, &view, begun, &request, found));
    let entries: Vec<Value> = entries.collect::<Result<_, _>>()?;
    if entries.iter().any(|entry| entry["in_pool"] == true) {
        service.journal.not_verified("gettransactions: transactions of the pool");
    }
    if entries.iter().any(|entry| entry["output_indices"].is_array()) {
        service.journal.not_verified("gettransactions: output_indices");
    }
    let as_hex: Vec<&Value> = entries.iter().map(|entry| &entry["as_hex"]).collect();
    let missed: Vec<String> = missed.iter().map(hex::encode).collect();
    let answer = json!({
        "status": "OK", "untrusted": false, "txs": entries, "txs_as_hex": as_hex, "missed_tx": missed,
    });
    Ok(answer.to_string().into())
}

/// Checks that an answer has each transaction, in order, or names it as missing.
fn check(request: &Request, answer: Answer<'_>) -> Result<(Vec<Found>, Vec<Hash>), Fault> {
    let wanted = request.txs_hashes.iter().map(|hash| hash.0);
    let missed: Vec<Hash> = wanted.clone().filter(|hash| answer.missed_tx.contains(hash)).collect();
    let expected = wanted.filter(|hash| !missed.contains(hash));
    if answer.txs.len() != expected.clone().count() {
        let (expected, got) = (expected.count(), answer.txs.len());
        return Err(Fault::Unusable(format!("txs: expected {expected}, got {got}")));
    }
    let mut found = Vec::with_capacity(answer.txs.len());
    for (entry, hash) in answer.txs.into_iter().zip(expected) {
        let indices = entry.output_indices;
        let mut entry = Found::from(entry).map_err(Fault::Unusable)?;
        // The hash of a transaction of an unknown form cannot be computed.
        let parsed = Transaction::parse(&entry.blob).map_err(|problem| {
            Fault::Unusable(format!("transaction {}: {problem}", hex::encode(hash)))
        })?;
        if parsed.hash() == hash {
            // Nodes send a hash also where they have pruned nothing.
            entry.prunable_hash = None;
        } else if parsed.is_pruned() {
            let proven = entry.prunable_hash.and_then(|prunable| parsed.pruned_hash(&prunable));
            if proven != Some(hash) || !request.prune {
                return Err(Fault::Unusable("the node has pruned the transaction".to_owned()));
            }
        } else {
            let reason = format!("another transaction than {} was sent", hex::encode(hash));
            return Err(Lie::new(reason).with_bytes("transaction", &entry.blob).into());
        }
        // A list that is longer is left out.
        let output_indices = json_list(indices, parsed.outputs).unwrap_or_default();
        found.push(Found { hash, output_indices, ..entry });
    }
    Ok((found, missed))
}

/// Checks that transactions are in the blocks in which the node says they are. The request began at `begun`.
fn check_blocks(
    service: &Service,
    view: &View,
    begun: Instant,
    found: &[Found],
) -> Result<(), Fault> {
    let heights: BTreeSet<u64> =
        found.iter().filter_map(|found| found.confirmed_at(view)).collect();
    let heights: Vec<u64> = heights.into_iter().collect();
    let mut blocks = HashMap::new();
    for heights in heights.chunks(BLOCKS_AT_ONCE) {
        let ids = blocks::transaction_ids(service, view, begun, heights)?;
        blocks.extend(heights.iter().copied().zip(ids));
    }
    for found in found {
        let Some(height) = found.confirmed_at(view) else { continue };
        if !blocks.get(&height).is_some_and(|ids| ids.contains(&found.hash)) {
            let hash = hex::encode(found.hash);
            let problem = format!("transaction {hash} is not in block {height}, as the node said");
            return Err(Fault::Unusable(problem));
        }
    }
    Ok(())
}

/// Describes a checked transaction, whose block was checked too, for a request that began at `begun`.
fn describe(
    service: &Service,
    view: &View,
    begun: Instant,
    request: &Request,
    found: &Found,
) -> Result<Value, Refusal> {
    let (tip, _) = view.tip();
    let Ok(transaction) = Transaction::parse(&found.blob) else {
        return Err(Refusal::Unusable("a transaction was lost".to_owned()));
    };
    let pruned = transaction.pruned();
    let rest = &found.blob[pruned.len()..];
    let prunable_hash = match transaction.version {
        1 => [0; 32],
        _ if rest.is_empty() => found.prunable_hash.unwrap_or([0; 32]),
        _ => randomx_monero::keccak256(&[rest]),
    };
    let mut entry = json!({
        "tx_hash": hex::encode(found.hash),
        // A text is left out also where it is requested: it would not be proven to describe the bytes.
        "as_hex": "", "pruned_as_hex": "", "prunable_as_hex": "", "as_json": "",
        "prunable_hash": hex::encode(prunable_hash),
        "double_spend_seen": false,
    });
    if request.prune || request.split {
        entry["pruned_as_hex"] = json!(hex::encode(pruned));
        if !request.prune {
            entry["prunable_as_hex"] = json!(hex::encode(rest));
        }
    } else {
        entry["as_hex"] = json!(hex::encode(&found.blob));
    }
    let height = found.confirmed_at(view);
    entry["in_pool"] = json!(height.is_none());
    let Some(height) = height else {
        entry["relayed"] = json!(true);
        entry["double_spend_seen"] = json!(found.double_spend_seen);
        entry["received_timestamp"] = json!(found.received_timestamp);
        return Ok(entry);
    };
    let block = service.chain.block(view, begun, height)?;
    entry["block_height"] = json!(height);
    entry["confirmations"] = json!(tip - height + 1);
    entry["block_timestamp"] = json!(block.blob.header.timestamp);
    if found.output_indices.len() == transaction.outputs {
        entry["output_indices"] = json!(found.output_indices);
    }
    Ok(entry)
}

/// Answers `sendrawtransaction`: all nodes receive the transaction, and the first that accepts it answers. The
/// request began at `begun`.
pub(crate) fn send(service: &Service, begun: Instant, body: &[u8]) -> Result<Vec<u8>, Refusal> {
    let request: Sent<'_> = serde_json::from_slice(body)
        .map_err(|problem| Refusal::Request(format!("sendrawtransaction: {problem}")))?;
    let blob = hex::decode(&*request.tx_as_hex)
        .map_err(|problem| Refusal::Request(format!("tx_as_hex: {problem}")))?;
    Transaction::parse(&blob)
        .map_err(|problem| Refusal::Request(format!("tx_as_hex: {problem}")))?;
    let call = Call {
        method: "sendrawtransaction".to_owned(),
        path: "/sendrawtransaction".to_owned(),
        form: Form::Json,
        body: serde_json::to_vec(&request).unwrap_or_default(),
        limit: MAX_SENT,
    };
    let (mut refused, mut failures) = (None, Vec::new());
    service.journal.not_verified("sendrawtransaction");
    for answer in service.nodes.ask_all(begun, call) {
        match answer.map(|answer| (serde_json::from_slice::<Value>(&answer), answer)) {
            Ok((Ok(json), answer)) if json["status"] == "OK" => return Ok(answer),
            Ok((Ok(_), answer)) => refused = Some(answer),
            Ok((Err(_), _)) => failures.push("a node sent no JSON".to_owned()),
            Err(problem) => failures.push(problem),
        }
    }
    refused.ok_or_else(|| Refusal::Unusable(failures.join("; ")))
}

#[cfg(test)]
mod tests;
