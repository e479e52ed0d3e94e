//! Answers of a node's JSON-RPC.

use randomx_client::internals::{parse_block, parse_header, parse_headers, parse_info};
use randomx_client::node::Header;
use serde_json::{Value, json};

use super::json;
use crate::{Target, vectors};

pub(super) const NODE_ANSWERS: Target =
    Target { name: "node_answers", longest: 4096, quick: 4000, run, seeds };

/// The height that all seeds are about.
const HEIGHT: u64 = 7;

/// The longest message about an answer: whatever it quotes is cut off.
const LONGEST_MESSAGE: usize = 1000;

fn run(answer: &[u8]) -> bool {
    let Some(document) = json::read(answer) else { return false };
    let json = || document.as_ref().expect("an accepted answer is JSON");
    let info = parse_info(answer);
    match &info {
        Ok(info) => assert_eq!(json()["result"]["height"].as_u64(), Some(info.height)),
        Err(error) => short(error),
    }
    let header = parse_header(answer, HEIGHT);
    match &header {
        Ok(header) => check(header, &json()["result"]["block_header"]),
        Err(error) => short(error),
    }
    let headers = parse_headers(answer, HEIGHT, HEIGHT + 1);
    match &headers {
        Ok(headers) => {
            let json = json();
            let theirs = json["result"]["headers"].as_array().expect("a list");
            assert_eq!((headers.len(), theirs.len()), (2, 2));
            headers.iter().zip(theirs).for_each(|(header, json)| check(header, json));
        }
        Err(error) => short(error),
    }
    let block = parse_block(answer, HEIGHT);
    match &block {
        Ok(block) => {
            let json = json();
            check(&block.header, &json["result"]["block_header"]);
            let blob = json["result"]["blob"].as_str().expect("a text");
            assert_eq!(hex::encode(&block.blob), blob.to_ascii_lowercase());
        }
        Err(error) => short(error),
    }
    // The answer with a block has its header's fields too.
    if document.as_ref().is_ok_and(|json| json["result"]["blob"].is_string()) {
        return block.is_ok();
    }
    info.is_ok() || header.is_ok() || headers.is_ok()
}

fn check(header: &Header, json: &Value) {
    assert!([HEIGHT, HEIGHT + 1].contains(&header.height), "another height was asked for");
    assert_eq!(json["height"].as_u64(), Some(header.height));
    assert_eq!(json["timestamp"].as_u64(), Some(header.timestamp));
    let id = json["hash"].as_str().expect("a text").to_ascii_lowercase();
    assert_eq!(hex::encode(header.id), id);
    let wide = json["wide_difficulty"].as_str().expect("a text").to_ascii_lowercase();
    let digits = wide.strip_prefix("0x").expect("hexadecimal").trim_start_matches('0');
    assert_eq!(format!("{:x}", header.difficulty), digits);
}

fn short(error: &impl ToString) {
    let message = error.to_string();
    assert!(message.chars().count() <= LONGEST_MESSAGE, "{} characters", message.len());
}

fn seeds() -> Vec<Vec<u8>> {
    let header = |height: u64| {
        json!({
            "height": height,
            "hash": "1A".repeat(32),
            "timestamp": 1_700_000_000,
            "orphan_status": false,
            "wide_difficulty": "0x20000000000000001",
        })
    };
    let blob = vectors::hashing_blobs().first().map(hex::encode).expect("a blob");
    let result = |mut result: Value| {
        result["status"] = json!("OK");
        json!({ "id": "0", "jsonrpc": "2.0", "result": result })
    };
    let answers = [
        result(json!({ "height": 8, "top_block_hash": "00".repeat(32) })),
        result(json!({ "block_header": header(7) })),
        result(json!({ "headers": [header(7), header(8)] })),
        result(json!({ "block_header": header(7), "blob": blob, "json": "{}" })),
    ];
    answers.iter().map(|answer| answer.to_string().into_bytes()).collect()
}
