//! Invariants of a guard's answers, of its requests to nodes, and of its accusations.

use monero::consensus::encode;
use monero::cryptonote::hash::Hashable;
use monero_epee::Epee;
use serde_json::Value;

use super::chain::{FEE, TestBlock};
use super::reader::{self, Blocks};
use super::{BLOCKS, CHAIN};
use crate::targets::json;
use crate::targets::messages::printable;

/// The bytes of a transaction of the chain that wallets do not receive.
const PRUNABLE: usize = 100;

/// How much more than recent blocks paid a fee estimate may be, and how much more each priority.
const FEE_MULTIPLE: u64 = 10;
const PRIORITIES: [u64; 4] = [1, 4, 16, 200];

/// The largest multiple to which wallets round fees up.
const MASK: u64 = 10_000;

/// Checks an answer that is not a node's, byte for byte.
pub(super) fn answer(path: &str, request: &[u8], body: &[u8]) {
    match path {
        "/getblocks.bin" => blocks(&reader::read(body)),
        "/getblocks_by_height.bin" => blocks_at(request, &reader::read(body)),
        "/gethashes.bin" => hashes(&reader::read(body)),
        "/get_outs.bin" | "/get_output_distribution.bin" | "/get_o_indexes.bin" => {
            refused(&reader::read(body).status);
        }
        "/json_rpc" => json_rpc(request, body),
        "/gettransactions" => transactions(request, &written(body)),
        "/get_info" => assert_eq!(written(body)["height"], BLOCKS + 1),
        _ => refused(written(body)["status"].as_str().expect("a text")),
    }
}

/// Parses what the guard wrote.
fn written(body: &[u8]) -> Value {
    serde_json::from_slice(body).expect("JSON")
}

/// A refusal says why, in a few words.
fn refused(status: &str) {
    assert_ne!(status, "OK");
    printable(status);
}

fn blocks(answer: &Blocks) {
    if answer.status != "OK" {
        return refused(&answer.status);
    }
    assert_eq!(answer.current, BLOCKS + 1);
    let first = usize::try_from(answer.start).expect("a height");
    are_blocks(answer, CHAIN[first..].iter().take(answer.blocks.len()));
}

fn blocks_at(request: &[u8], answer: &Blocks) {
    if answer.status != "OK" {
        return refused(&answer.status);
    }
    let heights = heights(request);
    are_blocks(answer, heights.iter().map(|height| &CHAIN[*height as usize]));
}

/// The blocks of an answer are these, with all their transactions.
fn are_blocks<'a>(answer: &Blocks, expected: impl Iterator<Item = &'a TestBlock> + Clone) {
    assert!(answer.blocks.iter().eq(expected.clone().map(|block| &block.blob)));
    let transactions: Vec<&Vec<u8>> = expected.flat_map(|block| &block.transactions).collect();
    assert_eq!(answer.transactions.len(), transactions.len());
    for (sent, known) in answer.transactions.iter().zip(transactions) {
        assert!(sent == known || *sent == known[..known.len() - PRUNABLE]);
    }
}

/// Returns the heights in an accepted request. Numbers may have any width.
fn heights(request: &[u8]) -> Vec<u64> {
    let mut heights = Vec::new();
    let mut epee = Epee::new(request).expect("a request");
    let mut fields = epee.entry().expect("an object").fields().expect("an object");
    while let Some(field) = fields.next() {
        let (name, entry) = field.expect("a field");
        if name.consume() == b"heights" {
            let mut list = entry.iterate().expect("a list");
            while let Some(height) = list.next() {
                let height = height.expect("a height");
                // No height of this chain needs more than the type's lowest byte.
                heights.push(match height.kind() {
                    monero_epee::Type::Uint64 => height.to_u64().expect("a number"),
                    monero_epee::Type::Uint32 => height.to_u32().expect("a number").into(),
                    monero_epee::Type::Uint16 => height.to_u16().expect("a number").into(),
                    monero_epee::Type::Uint8 => height.to_u8().expect("a number").into(),
                    monero_epee::Type::Int64 => height.to_i64().expect("a number") as u64,
                    monero_epee::Type::Int32 => height.to_i32().expect("a number") as u64,
                    monero_epee::Type::Int16 => height.to_i16().expect("a number") as u64,
                    _ => height.to_i8().expect("a number") as u64,
                });
            }
        }
    }
    heights
}

fn hashes(answer: &Blocks) {
    if answer.status != "OK" {
        return refused(&answer.status);
    }
    let first = usize::try_from(answer.start).expect("a height");
    let (ids, []) = answer.ids.as_chunks::<32>() else { panic!("hashes of 32 bytes") };
    assert!(ids.iter().eq(CHAIN[first..].iter().take(ids.len()).map(|block| &block.id)));
}

fn json_rpc(request: &[u8], body: &[u8]) {
    // The id of the request may have a number that no type has.
    let Ok(request) = serde_json::from_slice::<Value>(request) else { return };
    let answer = written(body);
    let result = &answer["result"];
    let method = request["method"].as_str().unwrap_or_default();
    if result.is_null() {
        assert!(answer["error"]["code"].is_i64());
        return;
    }
    let status = result["status"].as_str();
    if status.is_some_and(|status| status != "OK") {
        return refused(status.unwrap_or_default());
    }
    match method {
        "get_fee_estimate" => {
            assert!(!is_inflated(result));
            assert_ne!(result["quantization_mask"], 0);
        }
        "on_get_block_hash" | "on_getblockhash" => {
            let height = request["params"][0].as_u64().expect("a height");
            assert_eq!(*result, hex::encode(CHAIN[height as usize].id));
        }
        _ => {}
    }
    let one = result.get("block_header").into_iter();
    let many = result.get("headers").and_then(Value::as_array).into_iter().flatten();
    one.chain(many).for_each(header);
    if let Some(blob) = result.get("blob") {
        let height = result["block_header"]["height"].as_u64().expect("a height");
        let block = &CHAIN[height as usize];
        assert_eq!(*blob, hex::encode(&block.blob));
        let hashes: Vec<String> = block.hashes().iter().map(hex::encode).collect();
        assert_eq!(result["tx_hashes"], Value::from(hashes));
    }
}

fn header(header: &Value) {
    let height = header["height"].as_u64().expect("a height");
    let block = &CHAIN[height as usize];
    assert_eq!(header["hash"], hex::encode(block.id));
    assert_eq!(header["num_txes"], block.transactions.len());
    assert_eq!(header["depth"], BLOCKS - height);
}

/// Whether an estimate is more than a guard passes on. Every transaction of the chain pays the same.
fn is_inflated(estimate: &Value) -> bool {
    let size = CHAIN.iter().find_map(|block| block.transactions.first()).expect("one").len() as u64;
    let limit = FEE_MULTIPLE * FEE / size;
    let exceeds = |fee: &Value, factor: u64| fee.as_u64().is_some_and(|fee| fee > limit * factor);
    let mut fees = estimate["fees"].as_array().into_iter().flatten().zip(PRIORITIES);
    exceeds(&estimate["fee"], 1)
        || fees.any(|(fee, factor)| exceeds(fee, factor))
        || estimate["quantization_mask"].as_u64().is_some_and(|mask| mask > MASK)
}

fn transactions(request: &[u8], answer: &Value) {
    if answer["status"] != "OK" {
        return refused(answer["status"].as_str().expect("a text"));
    }
    let texts = |list: &Value| -> Vec<String> {
        let list = list.as_array().into_iter().flatten();
        list.map(|hash| hash.as_str().expect("a text").to_ascii_lowercase()).collect()
    };
    let Some(request) = json::accepted(request) else { return };
    let wanted = texts(&request["txs_hashes"]);
    let missed = texts(&answer["missed_tx"]);
    let found = answer["txs"].as_array().expect("a list");
    let expected: Vec<&String> = wanted.iter().filter(|hash| !missed.contains(hash)).collect();
    assert_eq!(found.len(), expected.len());
    for (entry, hash) in found.iter().zip(expected) {
        assert_eq!(entry["tx_hash"], **hash);
        transaction(entry, hash);
    }
}

fn transaction(entry: &Value, hash: &str) {
    let bytes = |name: &str| hex::decode(entry[name].as_str().expect("a text")).expect("hex");
    let whole = bytes("as_hex");
    let (pruned, prunable) = (bytes("pruned_as_hex"), bytes("prunable_as_hex"));
    let place = CHAIN
        .iter()
        .enumerate()
        .find_map(|(height, block)| Some((height as u64, block.find(hash)?)));
    let height = entry.get("block_height").map(|height| height.as_u64().expect("a height"));
    let Some((place, (known, end))) = place else {
        assert!(entry["in_pool"] == true && height.is_none());
        for bytes in [whole, [pruned, prunable].concat()] {
            if let Ok(parsed) = encode::deserialize::<monero::Transaction>(&bytes) {
                assert_eq!(hex::encode(parsed.hash().to_bytes()), hash);
            }
        }
        return;
    };
    assert!(whole.is_empty() || whole == *known);
    assert!(pruned.is_empty() || pruned == known[..known.len() - end]);
    assert!(prunable.is_empty() || prunable == known[known.len() - end..]);
    assert_eq!(whole.is_empty(), !pruned.is_empty());
    assert!(height.is_none_or(|height| height == place));
    assert_eq!(entry["in_pool"], height.is_none());
}

/// A node must not recognise a wallet again.
pub(super) fn forwarded(path: &str, body: &[u8]) {
    if path.ends_with(".bin") && path != "/get_transaction_pool_hashes.bin" {
        let mut epee = Epee::new(body).expect("a request");
        let mut fields = epee.entry().expect("an object").fields().expect("an object");
        while let Some(field) = fields.next() {
            assert_ne!(field.expect("a field").0.consume(), b"client");
        }
        return;
    }
    // Other fields may have numbers that no type has.
    let Ok(body) = serde_json::from_slice::<Value>(body) else { return };
    assert!(body.get("client").is_none() && body["params"].get("client").is_none());
}

/// A guard accuses nodes only of what its evidence shows.
pub(super) fn lie(content: &Value) {
    printable(content["reason"].as_str().expect("a text"));
    let evidence = &content["evidence"];
    let bytes = |name: &str| Some(hex::decode(evidence[name].as_str()?).expect("hex"));
    let height = evidence["height"].as_u64();
    let known = height.map(|height| &CHAIN[height as usize]);
    if let Some(verified) = bytes("verified_id") {
        assert_eq!(verified, known.expect("a height").id);
    }
    let reason = content["reason"].as_str().expect("a text");
    if let Some(sent) = bytes("transaction") {
        let hash = reason.rsplit(' ').next().expect("a word");
        if let Ok(parsed) = encode::deserialize::<monero::Transaction>(&sent) {
            assert_ne!(hex::encode(parsed.hash().to_bytes()), hash, "{reason}");
        }
        let mut all =
            CHAIN.iter().flat_map(|block| block.hashes().into_iter().zip(&block.transactions));
        assert!(!all.any(|(known, blob)| hex::encode(known) == hash && *blob == sent), "{reason}");
    } else if let Some(sent) = bytes("block") {
        let known = known.expect("a height");
        let number = format!("has {} transactions, ", known.transactions.len());
        assert!(sent != known.blob || reason.contains(&number), "{reason}");
    } else if let Some(sent) = bytes("sent") {
        assert_ne!(sent, known.expect("a height").id);
    } else {
        assert!(is_inflated(evidence), "{reason}");
    }
}
